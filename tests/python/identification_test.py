"""Unknowns found from measurements and goals."""

import inspect
from pathlib import Path

import numpy as np
import pytest

import abut

SLIDING = {"unknown": [{"name": "body.box.friction", "initial": 0.6, "lower": 0.05, "upper": 2.0}]}


@pytest.fixture
def csv(slide: abut.Scene, tmp_path: Path) -> Path:
    """Positions of a box that slid with a friction of 0.25, measured to 0.1 mm."""
    run = slide.simulator(["body.box.friction"]).rollout(150, values=[[0.25]])
    random = np.random.default_rng(3)
    rows = ["time,body,position_x,position_y,position_z"]
    for k in range(10, 151, 10):
        x, y, z = run.position[0, k, 1] + 1e-4 * random.standard_normal(3)
        rows.append(f"{run.time[0, k]:.6f},box,{x:.9f},{y:.9f},{z:.9f}")
    file = tmp_path / "slide.csv"
    file.write_text("\n".join(rows) + "\n")
    return file


def test_friction_from_a_csv(slide: abut.Scene, csv: Path) -> None:
    seen = []
    motion = {"file": csv, "kind": "positions", "position_noise": 1e-4}
    result = abut.identify(
        {"scene": slide, "motion": [motion], **SLIDING},
        threads=1,
        progress=lambda start, stage, iteration, loss: seen.append((iteration, loss)),
    )
    friction = result["body.box.friction"]
    assert result.verdict.is_answer, str(result)
    assert abs(friction.value - 0.25) < 4.0 * friction.deviation
    assert friction.lower_95 < friction.value < friction.upper_95
    assert friction.initial == 0.6
    assert len(seen) >= 2
    assert "body.box.friction = 0.2" in str(result)
    with pytest.raises(KeyError, match="body.box.friction"):
        result["body.box.mass"]


def test_the_first_velocity_that_reaches_a_goal(slide: abut.Scene) -> None:
    result = abut.optimize(
        {
            "scene": slide,
            "unknown": [{"name": "body.box.linear_velocity.x", "initial": 1.0}],
            "motion": [
                {
                    "name": "slide",
                    "goal": [
                        {"kind": "pose", "time": 0.5, "body": "box", "position": [0.3, 0, 0.05]}
                    ],
                }
            ],
        }
    )
    assert result.verdict.status == "reached", str(result)
    assert result["body.box.linear_velocity.x"].value == pytest.approx(
        np.sqrt(2 * 0.3 * 9.81 * 0.3), rel=0.02
    )
    assert result.goals[0].reached


def test_a_progress_function_may_stop_or_raise(slide: abut.Scene, csv: Path) -> None:
    experiment = {"scene": slide, "motion": [{"file": csv, "kind": "positions"}], **SLIDING}
    result = abut.identify(experiment, progress=lambda *_: False)
    assert result.verdict.status == "unfinished"

    def fail(*_: object) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        abut.identify(experiment, progress=fail)


def test_errors_name_the_line_of_python_or_of_the_file(slide: abut.Scene, tmp_path: Path) -> None:
    line = inspect.currentframe().f_lineno + 2
    with pytest.raises(abut.InputError, match="frictoin") as caught:
        abut.identify(
            {"scene": slide, "unknown": [{"name": "body.box.frictoin"}], "motion": [{"name": "a"}]}
        )
    assert (caught.value.file, caught.value.line) == (__file__, line)
    with pytest.raises(abut.InputError) as caught:
        abut.identify(tmp_path / "missing.toml")
    assert caught.value.file == str(tmp_path / "missing.toml")
