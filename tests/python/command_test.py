"""Commands of motors, step by step."""

import numpy as np
import pytest

import abut


def arm(**torque) -> abut.Simulator:
    model = abut.Model(time_step=2e-3)
    model.add_body("upper", abut.box([0.1, 0.02, 0.02]), mass=0.5, position=[0.1, 0, 0])
    model.add_body("lower", abut.box([0.1, 0.02, 0.02]), mass=0.5, position=[0.3, 0, 0])
    model.add_joint(
        "shoulder", "hinge", "upper", position=[0, 0, 0], axis=[0, 1, 0], motor={"kind": "force", **torque}
    )
    model.add_joint(
        "elbow",
        "hinge",
        "lower",
        "upper",
        position=[0.2, 0, 0],
        axis=[0, 1, 0],
        motor={"kind": "position", "stiffness": 20, "damping": 0.5},
    )
    return model.scene().simulator()


def test_motor_force_is_what_the_servo_gives():
    model = abut.Model("servo", time_step=0.001, gravity=[0, 0, 0])
    model.add_body("bar", abut.capsule(0.02, 0.1), mass=1.0, position=[0, 0, 0])
    motor = {"kind": "position", "stiffness": 2.0, "damping": 0.1, "target": 0.3}
    model.add_joint("hinge", "hinge", "bar", position=[0, 0, 0], axis=[0, 1, 0], motor=motor)
    model.add_actuator("second", "force", joint="hinge", gear=3)
    simulator = model.scene().simulator()
    assert simulator.motor_names == ["hinge", "second"]
    run = simulator.rollout(100, commands=[[0.0, 0.01]])
    assert run.motor_force.shape == (1, 101, 2)
    assert (run.motor_force[0, 0] == 0).all()
    angle = run.joint_coordinate[0, :, 0]
    rate = np.diff(angle) / 0.001
    assert np.allclose(run.motor_force[0, 1:, 0], 2.0 * (0.3 - angle[1:]) - 0.1 * rate, atol=1e-6)
    assert np.allclose(run.motor_force[0, 1:, 1], 0.01)
    environment = simulator.batch(worlds=1)
    environment.step(commands=[[0.0, 0.01]])
    assert np.allclose(environment.motor_force[0], run.motor_force[0, 1])


def test_commands_are_added_to_targets_in_every_world():
    simulator = arm()
    assert simulator.motor_names == ["shoulder", "elbow"]
    commands = np.array([[[-1.0, 0.2]], [[0.5, -0.3]]])  # of all steps
    run = simulator.rollout(50, commands=commands)
    for world in (0, 1):
        alone = arm(target=commands[world, 0, 0]).rollout(50, commands=[[[0.0, commands[world, 0, 1]]]])
        np.testing.assert_array_equal(run.joint_coordinate[world], alone.joint_coordinate[0])
    state = simulator.state()
    environment = simulator.batch(worlds=2)
    for step in range(3):
        state = simulator.step(state, commands=commands[1, 0])
        environment.step(commands=commands[:, 0])
    np.testing.assert_array_equal(state.joint_rate, run.joint_rate[1, 3])
    np.testing.assert_array_equal(environment.joint_rate, run.joint_rate[:, 3])


def test_a_scene_has_commands_of_its_own():
    model = abut.Model(time_step=1e-2, gravity=[0, 0, 0])
    model.add_body("cart", abut.box([0.1, 0.1, 0.1]), mass=2.0)
    model.add_joint("rail", "slider", "cart", axis=[1, 0, 0], motor={"kind": "force"})
    model.add_command("rail", [0.0, 0.5, 1.0], [4.0, -2.0, 0.0])
    simulator = model.scene().simulator()
    run = simulator.rollout(150)
    at = {time: run.joint_rate[0, round(time / 1e-2), 0] for time in (0.5, 1.0, 1.5)}
    assert at == pytest.approx({0.5: 1.0, 1.0: 0.5, 1.5: 0.5}, rel=1e-9)
    more = simulator.rollout(150, commands=[2.0])  # and what a program adds
    assert more.joint_rate[0, -1, 0] == pytest.approx(0.5 + 1.5, rel=1e-9)


def test_gradients_by_commands_and_by_joints_at_the_start_agree_with_differences():
    simulator = arm()
    random = np.random.default_rng(3)
    steps = 80
    commands = random.normal(scale=0.3, size=(1, steps, 2))
    start = {"joint_coordinate": np.array([[0.3, -0.4]]), "joint_rate": np.array([[1.0, -2.0]])}
    run = simulator.rollout(steps, commands=commands, initial=start)
    weight = random.normal(size=run.joint_coordinate.shape)
    gradient = run.gradient(joint_coordinate=weight)
    assert gradient.commands.shape == (1, steps, 2)
    change = random.normal(size=(1, steps, 2))
    of_start = {name: random.normal(size=(1, 2)) for name in start}

    def loss(size, commands_too, joints_too) -> float:
        moved = simulator.rollout(
            steps,
            commands=commands + size * commands_too * change,
            initial={name: start[name] + size * joints_too * of_start[name] for name in start},
        )
        return float((moved.joint_coordinate * weight).sum())

    size = 1e-4
    for which in ((1, 0), (0, 1)):
        difference = (loss(size, *which) - loss(-size, *which)) / (2 * size)
        along = which[0] * (gradient.commands * change).sum() + which[1] * sum(
            (getattr(gradient.initial, name) * of_start[name]).sum() for name in start
        )
        # At step 0 the loss has the coordinates themselves, of which the start is all that is changed.
        assert along == pytest.approx(difference, rel=1e-6)


@pytest.mark.parametrize("shape", [(3,), (1, 5, 2), (2, 50)])
def test_commands_of_wrong_shape_are_refused(shape):
    with pytest.raises(ValueError, match="commands"):
        arm().rollout(50, commands=np.zeros(shape))


def test_commands_without_motors_are_refused():
    model = abut.Model()
    model.add_body("ball", abut.sphere(0.1), mass=1.0)
    with pytest.raises(ValueError, match="commands: the scene has no motor"):
        model.scene().simulator().rollout(2, commands=[0.0])


def test_joints_and_bodies_at_the_start_have_no_derivatives_together():
    model = abut.Model(gravity=[0, 0, 0])
    for i, name in enumerate(["base", "leg"]):
        model.add_body(name, abut.box([0.1, 0.02, 0.02]), mass=0.5, position=[0.2 * i, 0, 0])
    model.add_joint("hip", "hinge", "leg", "base", position=[0.1, 0, 0], axis=[0, 1, 0])
    names = ["body.base.rotation_vector.y", "joint.hip.coordinate"]
    run = model.scene().simulator(names).rollout(2, values=[[0.3, -0.5]])
    np.testing.assert_allclose(run.joint_coordinate[0, 0], [-0.5], atol=1e-14)
    with pytest.raises(ValueError, match="have no derivatives together"):
        run.gradient(position=np.ones(run.position.shape))
