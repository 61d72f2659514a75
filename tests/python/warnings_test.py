"""Warnings of simulations."""

import numpy as np
import pytest

import abut


def pendulum(**keys: object) -> abut.Model:
    """A ball on a hinge along y, 0.5 m below it."""
    model = abut.Model("pendulum", time_step=0.002)
    model.add_body("ball", abut.sphere(0.1), mass=1.0, **{"position": [0, 0, -0.5], **keys})
    frame = {"axis": [0, 1, 0]}
    model.add_joint(
        "pivot",
        "hinge",
        "ball",
        frame_A={"position": [0, 0, 0], **frame},
        frame_B={"position": [0, 0, 0.5], **frame},
    )
    return model


def test_a_run_without_warnings(slide: abut.Scene) -> None:
    run = slide.simulator().rollout(5)
    assert run.ok
    assert run.warnings == []
    assert pendulum().scene().simulator().rollout(5).warnings == []


def test_a_joint_that_starts_apart_is_named() -> None:
    run = pendulum(position=[1, 0, -0.5]).scene().simulator().rollout(5)
    assert run.ok
    warning = run.warnings[0]
    assert (warning.kind, warning.world, warning.step) == ("parted_joint", 0, None)
    assert warning.body == "ball"
    assert "'pivot'" in warning.text
    assert "1 m apart" in warning.text
    assert "at the start" in str(warning)


def test_velocities_that_a_joint_forbids_are_named() -> None:
    simulator = pendulum(linear_velocity=[0, 0.3, 0]).scene().simulator()
    run = simulator.rollout(5)
    assert [warning.kind for warning in run.warnings] == ["parting_joint"]
    assert "0.3 m/s" in run.warnings[0].text


def test_overlaps_of_each_world_are_named() -> None:
    model = abut.Model("sunk", time_step=0.002)
    model.add_body("floor", abut.half_space())
    model.add_body("ball", abut.sphere(0.1), mass=1.0, position=[0, 0, 0.1])
    simulator = model.scene().simulator(["body.ball.position.z"])
    run = simulator.rollout(5, values=[[0.1], [0.05], [0.3]])
    overlaps = [warning for warning in run.warnings if warning.kind == "overlap"]
    assert [warning.world for warning in overlaps] == [1]
    assert "overlap by 0.05 m" in overlaps[0].text
    start = np.zeros((2, 2, 3))
    start[:, 1, 2] = [0.05, 0.2]
    given = model.scene().simulator().rollout(5, initial={"position": start})
    assert [warning.world for warning in given.warnings if warning.step is None] == [0]


def test_steps_have_warnings() -> None:
    model = abut.Model("long steps", time_step=0.3)
    model.add_body("floor", abut.half_space())
    model.add_body("box", abut.box([0.1, 0.1, 0.1], 0.005), mass=1.0, position=[0, 0, 0.1])
    scene = model.scene()
    run = scene.simulator().rollout(20)
    warning = next(warning for warning in run.warnings if warning.kind == "long_step")
    assert warning.step == 0
    assert warning.steps >= 1
    assert warning.body == "box"
    assert "smaller time_step" in warning.text

    environment = scene.simulator().batch(2)
    assert environment.warnings == []
    for _ in range(3):
        environment.step()
    kinds = {(warning.world, warning.kind) for warning in environment.warnings}
    assert {(0, "long_step"), (1, "long_step")} <= kinds
    environment.reset(np.array([True, False]))
    assert {warning.world for warning in environment.warnings} == {1}


def test_an_environment_warns_of_the_state_of_a_reset() -> None:
    environment = pendulum().scene().simulator().batch(2)
    velocity = np.array([[[0, 0, 0]], [[0, 0.3, 0]]])
    environment.reset(np.array([False, True]), linear_velocity=velocity)
    assert [(warning.world, warning.kind) for warning in environment.warnings] == [
        (1, "parting_joint")
    ]
    environment.reset()
    assert environment.warnings == []


@pytest.mark.parametrize("velocity", [[0.0, 0.0, 0.0], [0.0, 0.3, 0.0]])
def test_optimize_warns_of_the_initial_state(velocity: list[float]) -> None:
    result = abut.optimize(
        {
            "scene": pendulum(linear_velocity=velocity).scene(),
            "unknown": [{"name": "body.ball.force.x", "initial": 5.0}],
            "motion": [
                {
                    "name": "swing",
                    "goal": [
                        {
                            "kind": "pose",
                            "time": 0.1,
                            "body": "ball",
                            "position": [0.05, 0, -0.4975],
                            "position_tolerance": 0.01,
                        }
                    ],
                }
            ],
        }
    )
    named = [text for text in result.warnings if "'pivot'" in text]
    assert len(named) == (1 if velocity[1] else 0)
