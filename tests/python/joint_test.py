"""Coordinates and rates of joints as outputs and inputs."""

import numpy as np
import pytest

import abut

PENDULUMS = 2  # in a row


def arm() -> abut.Simulator:
    model = abut.Model(time_step=2e-3)
    model.add_body("upper", abut.box([0.1, 0.02, 0.02]), mass=0.5, position=[0.1, 0, 0])
    model.add_body("lower", abut.box([0.1, 0.02, 0.02]), mass=0.5, position=[0.3, 0, 0])
    model.add_joint("shoulder", "hinge", "upper", position=[0, 0, 0], axis=[0, 1, 0])
    model.add_joint(
        "elbow", "hinge", "lower", "upper", position=[0.2, 0, 0], axis=[0, 1, 0], coordinate=-0.3, rate=2.0
    )
    return model.scene().simulator()


def test_outputs_are_those_of_the_state_and_of_its_poses():
    simulator = arm()
    assert simulator.joint_names == ["shoulder", "elbow"]
    assert simulator.joint("elbow") == 1
    with pytest.raises(ValueError, match="known are shoulder, elbow"):
        simulator.joint("wrist")
    state = simulator.state()
    np.testing.assert_allclose(state.joint_coordinate, [0, -0.3], atol=1e-15)
    np.testing.assert_allclose(state.joint_rate, [0, 2], atol=1e-15)
    run = simulator.rollout(500)
    assert run.joint_coordinate.shape == run.joint_rate.shape == (1, 501, PENDULUMS)
    np.testing.assert_allclose(
        run.joint_rate[0, :, 1], run.angular_velocity[0, :, 1, 1] - run.angular_velocity[0, :, 0, 1], atol=1e-12
    )
    angle = 2 * np.arctan2(run.orientation_wxyz[0, :, 0, 2], run.orientation_wxyz[0, :, 0, 0])
    np.testing.assert_allclose(run.joint_coordinate[0, :, 0], np.unwrap(angle), atol=1e-12)


def test_coordinates_count_turns():
    model = abut.Model(time_step=5e-3, gravity=[0, 0, 0])
    model.add_body("wheel", abut.box([0.1, 0.1, 0.02]), mass=1.0)
    model.add_joint("axle", "hinge", "wheel", axis=[0, 0, 1], rate=10.0, coordinate=20.0)
    run = model.scene().simulator().rollout(400)
    np.testing.assert_allclose(run.joint_coordinate[0, :, 0], 20 + 10 * run.time[0], rtol=1e-9)


def test_gradients_of_losses_by_coordinates_agree_with_differences():
    simulator = arm()
    random = np.random.default_rng(4)
    steps = 100
    run = simulator.rollout(steps)
    by_coordinate = random.normal(size=run.joint_coordinate.shape)
    by_rate = random.normal(size=run.joint_rate.shape)
    gradient = run.gradient(joint_coordinate=by_coordinate, joint_rate=by_rate)
    direction = random.normal(size=gradient.controls.shape)

    def loss(size: float) -> float:
        moved = simulator.rollout(steps, controls=size * direction)
        return float((moved.joint_coordinate * by_coordinate + moved.joint_rate * by_rate).sum())

    size = 1e-4
    difference = (loss(size) - loss(-size)) / (2 * size)
    assert (gradient.controls * direction).sum() == pytest.approx(difference, rel=1e-6)


def test_rollouts_and_environments_start_where_joints_say():
    simulator = arm()
    coordinates, rates = np.array([[7.0, -0.5], [0.1, 2.0]]), np.array([[1.0, -3.0]])
    run = simulator.rollout(3, initial={"joint_coordinate": coordinates, "joint_rate": rates})
    np.testing.assert_allclose(run.joint_coordinate[:, 0], coordinates, atol=1e-14)
    np.testing.assert_allclose(run.joint_rate[:, 0], np.repeat(rates, 2, axis=0), atol=1e-13)
    assert run.warnings == []  # the joints hold
    again = simulator.rollout(3, initial=simulator.state(joint_coordinate=coordinates[0], joint_rate=rates[0]))
    np.testing.assert_array_equal(again.position[0], run.position[0])
    np.testing.assert_array_equal(again.joint_coordinate[0], run.joint_coordinate[0])
    environment = simulator.batch(worlds=2)
    environment.reset(joint_coordinate=coordinates)
    np.testing.assert_allclose(environment.joint_coordinate, coordinates, atol=1e-14)
    environment.step()
    assert (environment.joint_rate != 0).all()


@pytest.mark.parametrize(
    "coordinate, message", [([[np.nan, 0]], r"coordinate = nan, allowed: \[-1000000000, 1000000000\]"), ([[0.0]], r"shape \(1, 1\)")]
)
def test_wrong_coordinates_are_refused(coordinate, message):
    with pytest.raises(ValueError, match=message):
        arm().rollout(1, initial={"joint_coordinate": coordinate})


def test_files_have_the_arrays_of_joints(tmp_path):
    simulator = arm()
    run = simulator.rollout(2)
    run.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as arrays:
        np.testing.assert_array_equal(arrays["joint_coordinate"], run.joint_coordinate[0])
        assert list(arrays["joint_names"]) == simulator.joint_names
