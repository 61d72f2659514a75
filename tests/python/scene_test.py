"""Scenes, their parameters, and errors with file and line."""

from pathlib import Path

import numpy as np
import pytest

import abut


def test_load_reads_what_the_file_says(slide: abut.Scene) -> None:
    assert slide.name == "box_slide"
    assert slide.body_names == ["floor", "box"]
    assert slide.time_step == 0.002
    assert slide.steps == 300
    assert slide.value("body.box.friction") == 0.3


def test_errors_of_files_have_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(
        '[[body]]\nname = "ball"\ndensity = -1\n[[body.primitive]]\nkind = "sphere"\nradius = 1\n'
    )
    with pytest.raises(abut.InputError, match="wrong.toml:3: .*density") as caught:
        abut.load(file)
    assert caught.value.file == str(file)
    assert caught.value.line == 3
    assert isinstance(caught.value, ValueError)


def test_errors_about_a_whole_file_have_no_line(tmp_path: Path) -> None:
    with pytest.raises(abut.InputError) as caught:
        abut.load(tmp_path / "missing.toml")
    assert caught.value.file == str(tmp_path / "missing.toml")
    assert caught.value.line is None


def test_parameters_have_names_values_and_units(slide: abut.Scene) -> None:
    by_name = {parameter.name: parameter for parameter in slide.parameters()}
    assert by_name["body.box.mass"].unit == "kg"
    assert by_name["body.box.friction"].value == 0.3
    simulator = slide.simulator(["body.box.linear_velocity", "simulation.time_step"])
    assert [parameter.name for parameter in simulator.parameters] == [
        "body.box.linear_velocity.x",
        "body.box.linear_velocity.y",
        "body.box.linear_velocity.z",
        "simulation.time_step",
    ]
    assert simulator.parameters[0].value == 1.0


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["body.box.frictoin"], "did you mean|friction"),
        (["body.box.mass", "body.box.mass"], "'body.box.mass' is given twice"),
        (["body.box.mass", "body.box.density"], "only one of"),
    ],
)
def test_wrong_parameters_are_refused(slide: abut.Scene, names: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        slide.simulator(names)


def test_a_step_is_a_function_of_its_arguments(slide: abut.Scene) -> None:
    simulator = slide.simulator()
    start = simulator.state()
    assert start.position.shape == (2, 3)
    assert start.time == 0.0
    push = np.zeros((2, 6))
    push[1, 3] = 5.0
    first, second = simulator.step(start, push), simulator.step(start, push)
    assert np.array_equal(first.position, second.position)
    assert np.array_equal(start.position, simulator.state().position)
    free = simulator.step(start)
    mass = slide.value("body.box.mass")
    gained = first.linear_velocity[1, 0] - free.linear_velocity[1, 0]
    assert gained == pytest.approx(5.0 / mass * slide.time_step, rel=1e-3)


def test_steps_are_the_states_of_a_rollout(slide: abut.Scene) -> None:
    simulator = slide.simulator()
    run = simulator.rollout(5)
    state = None
    for k in range(5):
        state = simulator.step(state)
        assert np.array_equal(state.position, run.position[0, k + 1])
        assert np.array_equal(state.angular_velocity, run.angular_velocity[0, k + 1])


def test_states_of_arrays(slide: abut.Scene) -> None:
    simulator = slide.simulator()
    position = simulator.state().position + [0.0, 0.0, 0.5]
    state = simulator.state(position=position)
    assert np.array_equal(state.position, position)
    assert np.array_equal(state.linear_velocity, simulator.state().linear_velocity)
    with pytest.raises(ValueError, match="there is no 'positoin'"):
        simulator.state(positoin=position)
    with pytest.raises(ValueError, match="position: an array of shape"):
        simulator.state(position=position[:1])


def test_a_step_that_fails_says_why(slide: abut.Scene) -> None:
    simulator = slide.simulator()
    push = np.zeros((2, 6))
    push[1, 3] = np.nan
    with pytest.raises(abut.SimulationError, match="body 'box'") as caught:
        simulator.step(None, push)
    assert caught.value.status == "non_finite"


def test_contacts_of_a_box_on_the_floor(slide: abut.Scene) -> None:
    contacts = slide.simulator().contacts()
    assert len(contacts) >= 4
    assert contacts.bodies.tolist() == [[0, 1]] * len(contacts)
    assert np.allclose(contacts.normal, [0.0, 0.0, 1.0], atol=1e-9)
    assert np.all(np.abs(contacts.point[:, 2]) < 0.01)
    assert np.all((contacts.activity > 0.0) & (contacts.activity <= 1.0))
    assert contacts.distance.shape == (len(contacts),)
