"""Batched rollouts: shapes, memory, threads, failures, files."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest

import abut


def test_a_box_stops_where_friction_says(slide: abut.Scene) -> None:
    friction = np.array([0.2, 0.3, 0.5])
    simulator = slide.simulator(["body.box.friction", "body.floor.friction"])
    run = simulator.rollout(300, values=np.column_stack([friction, friction]))
    assert run.position.shape == (3, 301, 2, 3)
    assert run.orientation_wxyz.shape == (3, 301, 2, 4)
    assert run.time.shape == run.energy.shape == run.contacts.shape == (3, 301)
    assert run.time[0, -1] == pytest.approx(0.6)
    box = simulator.body("box")
    assert run.position[:, -1, box, 0] == pytest.approx(1.0 / (2.0 * friction * 9.81), rel=0.02)
    assert np.all(run.contacts[:, 1:] > 0)
    assert np.all(run.energy[:, -1] < run.energy[:, 0])


def test_arrays_are_views_of_the_memory_that_workers_wrote(slide: abut.Scene) -> None:
    run = slide.simulator().rollout(3)
    for name in (
        "position",
        "orientation_wxyz",
        "linear_velocity",
        "angular_velocity",
        "time",
        "energy",
        "contacts",
    ):
        array = getattr(run, name)
        native = getattr(run._native, name)
        assert not array.flags.owndata
        assert not array.flags.writeable
        assert np.shares_memory(array, np.asarray(native))
        assert array.ctypes.data == np.asarray(native).ctypes.data
    position = run.position
    expected = position.copy()
    del run
    assert np.array_equal(position, expected)  # the memory lives as long as a view of it


def test_inputs_of_one_world_are_those_of_all(slide: abut.Scene) -> None:
    simulator = slide.simulator(["body.box.mass"])
    push = np.zeros((2, 6))
    push[1, 3] = 3.0
    tiled = simulator.rollout(20, values=[0.8], controls=push, worlds=3)
    whole = simulator.rollout(20, values=[[0.8]] * 3, controls=np.tile(push, (3, 20, 1, 1)))
    assert tiled.worlds == whole.worlds == 3
    assert np.array_equal(tiled.position, whole.position)
    start = simulator.state()
    moved = np.stack([start.position, start.position + [0.5, 0.0, 0.0]])
    run = simulator.rollout(20, initial={"position": moved})
    assert run.worlds == 2
    assert np.allclose(run.position[1, -1, 1] - run.position[0, -1, 1], [0.5, 0.0, 0.0], atol=1e-9)


def test_threads_change_no_bit(slide: abut.Scene) -> None:
    simulator = slide.simulator(["body.box.friction"])
    values = np.linspace(0.1, 0.9, 7)[:, None]
    one = simulator.rollout(30, values=values, threads=1)
    many = simulator.rollout(30, values=values, threads=4, record=False)
    assert np.array_equal(one.position, many.position)
    assert np.array_equal(one.angular_velocity, many.angular_velocity)


def test_the_interpreter_runs_beside_a_rollout(scenes: Path) -> None:
    simulator = abut.load(scenes / "box_stack.toml").simulator()
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(1e-3)

    thread = threading.Thread(target=tick)
    thread.start()
    before = ticks
    simulator.rollout(1000, worlds=2, threads=1, record=False)
    during = ticks - before
    done.set()
    thread.join()
    assert during > 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": 0}, "0 steps, allowed: >= 1"),
        ({"steps": 5, "values": [[0.3, 0.4]]}, "values: an array of shape"),
        ({"steps": 5, "values": np.zeros((0, 1))}, "values: an array of shape"),
        ({"steps": 5, "values": [[0.3], [-1.0]]}, "world 1: 'body.box.friction' = -1"),
        ({"steps": 5, "controls": np.zeros((1, 4, 2, 6))}, "controls: 4 steps of 5"),
        (
            {"steps": 5, "values": [[0.3]] * 2, "initial": {"position": np.zeros((3, 2, 3))}},
            "values: 2 rows for 3",
        ),
        ({"steps": 5, "initial": {"place": np.zeros((2, 3))}}, "there is no 'place'"),
        ({"steps": 5, "threads": -1}, "-1 threads"),
        ({"steps": 5, "on_failure": "ignore"}, "allowed: 'raise', 'nan'"),
    ],
)
def test_what_makes_no_sense_is_refused(slide: abut.Scene, arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        slide.simulator(["body.box.friction"]).rollout(**arguments)


def test_failures_are_raised_or_leave_nan(slide: abut.Scene) -> None:
    simulator = slide.simulator()
    controls = np.zeros((2, 10, 2, 6))
    controls[1, 4, 1, 3] = np.inf
    with pytest.raises(abut.SimulationError, match="world 1: step 5 .* body 'box'") as caught:
        simulator.rollout(10, controls=controls)
    assert (caught.value.world, caught.value.step, caught.value.status) == (1, 4, "non_finite")
    run = simulator.rollout(10, controls=controls, on_failure="nan")
    assert not run.ok
    assert run.failure(0) is None
    assert str(run.failure(1)).startswith("world 1: step 5")
    assert np.all(np.isfinite(run.position[0]))
    assert np.all(np.isfinite(run.position[1, :5]))
    assert np.all(np.isnan(run.position[1, 5:]))


def test_saved_runs_are_trajectories(slide: abut.Scene, tmp_path: Path) -> None:
    simulator = slide.simulator(["body.box.friction"])
    run = simulator.rollout(10, values=[[0.2], [0.4]])
    run.save(tmp_path / "one.npz", world=1)
    with np.load(tmp_path / "one.npz") as saved:
        assert saved["position"].shape == (11, 2, 3)
        assert np.array_equal(saved["position"], run.position[1])
        assert saved["body_names"].tolist() == ["floor", "box"]
        assert Path(str(saved["scene"])).is_file()
    run.save(tmp_path / "all.npz")
    with np.load(tmp_path / "all.npz") as saved:
        assert saved["position"].shape == (2, 11, 2, 3)
        assert saved["parameters"].tolist() == [[0.2], [0.4]]
        assert saved["parameter_names"].tolist() == ["body.box.friction"]


def test_values_are_those_at_the_time_of_the_rollout(slide: abut.Scene) -> None:
    values = np.array([[0.2], [0.3]])
    run = slide.simulator(["body.box.friction"]).rollout(2, values=values)
    values[:] = 7.0
    assert run.values.tolist() == [[0.2], [0.3]]


def test_a_step_takes_wrenches_of_one_shape(slide: abut.Scene) -> None:
    simulator = slide.simulator()
    with pytest.raises(ValueError, match="controls"):
        simulator.step(None, np.zeros((6, 2)))
    assert simulator.step(None, np.zeros((2, 6))).time == pytest.approx(0.002)
