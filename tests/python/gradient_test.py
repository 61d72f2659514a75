"""Gradients of batched rollouts against central differences."""

from typing import Any

import numpy as np
import pytest

import abut

STEPS = 40
NAMES = ("position", "orientation_wxyz", "linear_velocity", "angular_velocity")


def loss_of(run: abut.Run, bars: dict[str, np.ndarray]) -> np.ndarray:
    """The weighted sum of all numbers of each world."""
    return sum(np.sum(getattr(run, name) * bar, axis=(1, 2, 3)) for name, bar in bars.items())


def differences(
    simulator: abut.Simulator, bars: dict[str, np.ndarray], inputs: dict[str, Any], name: str
) -> np.ndarray:
    """dL/d(every number of an input of all worlds), by central differences of all worlds at
    once."""
    array = np.array(inputs[name])
    result = np.zeros(array.shape)
    h = 1e-8
    for index in np.ndindex(array.shape[1:]):
        sides = []
        for sign in (1.0, -1.0):
            moved = array.copy()
            moved[(slice(None), *index)] += sign * h
            run = simulator.rollout(STEPS, **{**inputs, name: moved}, record=False)
            sides.append(loss_of(run, bars))
        result[(slice(None), *index)] = (sides[0] - sides[1]) / (2.0 * h)
    return result


@pytest.fixture
def bars() -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    return {
        name: random.standard_normal((2, STEPS + 1, 2, 4 if name == "orientation_wxyz" else 3))
        for name in NAMES
    }


def test_by_parameters(slide: abut.Scene, bars: dict[str, np.ndarray]) -> None:
    simulator = slide.simulator(
        ["body.box.friction", "body.box.mass", "body.box.linear_velocity", "body.box.force"]
    )
    start = [parameter.value for parameter in simulator.parameters]
    values = np.array([start, start]) * [[1.0], [1.1]]
    gradient = simulator.rollout(STEPS, values=values).gradient(**bars)
    assert gradient.values.shape == (2, 8)
    expected = differences(simulator, bars, {"values": values}, "values")
    assert gradient.values == pytest.approx(expected, rel=1e-4, abs=1e-4 * np.abs(expected).max())
    assert np.all(gradient.values[:, 2] != 0.0)


def test_by_controls(slide: abut.Scene, bars: dict[str, np.ndarray]) -> None:
    simulator = slide.simulator()
    random = np.random.default_rng(6)
    controls = 0.1 * random.standard_normal((2, 1, 2, 6))
    run = simulator.rollout(STEPS, controls=controls)
    gradient = run.gradient(**bars)
    assert gradient.controls.shape == (2, STEPS, 2, 6)
    expected = differences(simulator, bars, {"controls": controls}, "controls")
    total = gradient.controls.sum(axis=1, keepdims=True)
    assert total[:, :, 1] == pytest.approx(
        expected[:, :, 1], rel=1e-4, abs=1e-4 * np.abs(expected).max()
    )


def test_by_the_initial_state(slide: abut.Scene, bars: dict[str, np.ndarray]) -> None:
    simulator = slide.simulator()
    start = simulator.state()
    initial = {name: np.stack([getattr(start, name)] * 2) for name in NAMES}
    initial["linear_velocity"][1, 1, 1] += 0.3
    gradient = simulator.rollout(STEPS, initial=initial).gradient(**bars)
    for name in NAMES:
        array = initial[name]
        expected = np.zeros(array.shape)
        h = 1e-8
        for i in range(array.shape[2]):
            sides = []
            for sign in (1.0, -1.0):
                moved = array.copy()
                moved[:, 1, i] += sign * h
                sides.append(
                    loss_of(
                        simulator.rollout(STEPS, initial={**initial, name: moved}, record=False),
                        bars,
                    )
                )
            expected[:, 1, i] = (sides[0] - sides[1]) / (2.0 * h)
        found = getattr(gradient.initial, name)
        assert found.shape == array.shape
        assert found[:, 1] == pytest.approx(
            expected[:, 1], rel=1e-4, abs=1e-4 * np.abs(expected).max()
        ), name


def test_a_bounce_turns_the_velocity_round(bounce: abut.Scene) -> None:
    simulator = bounce.simulator(["body.ball.linear_velocity.z"])
    run = simulator.rollout(bounce.steps)
    bar = np.zeros(run.position.shape)
    bar[0, -1, simulator.body("ball"), 2] = 1.0
    gradient = run.gradient(position=bar)
    assert np.isfinite(gradient.values).all()
    health = gradient.health[0]
    assert health.contacts > 0
    assert health.largest_growth >= 0.0
    assert isinstance(health.warnings, list)


def test_by_the_gains_of_a_feedback(slide: abut.Scene, bars: dict[str, np.ndarray]) -> None:
    simulator = slide.simulator()
    feedback = abut.PositionFeedback("box", [0.02, 0.01, 0.05])
    gains = np.array([[20.0, 10.0, 5.0, 2.0, 1.0, 0.5], [60.0, 30.0, 0.0, 4.0, 3.0, 0.0]])
    run = simulator.rollout(STEPS, feedback=feedback, gains=gains)
    found = run.gradient(**bars).gains
    expected = np.zeros(gains.shape)
    h = 1e-5
    for i in range(6):
        sides = []
        for sign in (1.0, -1.0):
            moved = gains.copy()
            moved[:, i] += sign * h
            sides.append(
                loss_of(
                    simulator.rollout(STEPS, feedback=feedback, gains=moved, record=False), bars
                )
            )
        expected[:, i] = (sides[0] - sides[1]) / (2.0 * h)
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-4 * np.abs(expected).max())
    assert found[0, 0] != 0.0
    with pytest.raises(ValueError, match="come together"):
        simulator.rollout(STEPS, gains=gains)
    with pytest.raises(ValueError, match="there is no body 'bxo'"):
        simulator.rollout(STEPS, feedback=abut.PositionFeedback("bxo", [0, 0, 0]), gains=gains)


def test_settings_have_no_derivative_and_failed_worlds_none_either(slide: abut.Scene) -> None:
    simulator = slide.simulator(["simulation.time_step", "body.box.friction"])
    run = simulator.rollout(5, values=[[0.002, 0.3]])
    gradient = run.gradient(position=np.ones(run.position.shape))
    assert np.isnan(gradient.values[0, 0])
    assert np.isfinite(gradient.values[0, 1])
    controls = np.zeros((2, 5, 2, 6))
    controls[1, 2, 1, 3] = np.nan
    run = simulator.rollout(5, controls=controls, on_failure="nan")
    gradient = run.gradient(position=np.ones(run.position.shape))
    assert np.isfinite(gradient.controls[0]).all()
    assert np.isnan(gradient.controls[1]).all()


def test_a_failed_world_without_a_cotangent_does_not_spoil_the_batch(slide: abut.Scene) -> None:
    simulator = slide.simulator(["body.box.friction"])
    controls = np.zeros((2, 5, 2, 6))
    controls[1, 2, 1, 3] = np.nan
    values = [[0.3], [0.3]]
    run = simulator.rollout(5, values=values, controls=controls, on_failure="nan")
    bar = np.ones(run.position.shape)
    bar[1] = 0.0
    gradient = run.gradient(position=bar)
    assert gradient.values[0, 0] != 0.0
    assert gradient.values[1, 0] == 0.0
    assert not gradient.controls[1].any()
    assert not gradient.initial.position[1].any()
    assert np.isfinite(gradient.values.sum())
    bar[1, -1, 0, 0] = 1.0
    assert np.isnan(run.gradient(position=bar).values[1]).all()


def test_gradients_are_the_same_through_steps_that_are_kept_whole(slide: abut.Scene) -> None:
    simulator = slide.simulator(["body.box.friction"])
    one_step = 20_000  # and more than one, less than all
    gradients = []
    for tape_bytes in (0, 1, one_step, 2**40):
        run = simulator.rollout(STEPS, tape_bytes=tape_bytes)
        gradients.append(run.gradient(position=np.ones(run.position.shape)))
    for gradient in gradients[1:]:
        np.testing.assert_allclose(gradient.values, gradients[0].values, rtol=1e-9)
        np.testing.assert_allclose(gradient.controls, gradients[0].controls, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="tape_bytes = -1, allowed: 0 to"):
        simulator.rollout(5, tape_bytes=-1)
    with pytest.raises(TypeError, match="tape_bytes: 1.5 of type float, expected an integer"):
        simulator.rollout(5, tape_bytes=1.5)


def test_what_has_no_gradient_is_refused(slide: abut.Scene) -> None:
    run = slide.simulator().rollout(5, record=False)
    with pytest.raises(RuntimeError, match="not recorded"):
        run.gradient(position=np.ones(run.position.shape))
    run = slide.simulator().rollout(5)
    with pytest.raises(ValueError, match="position: an array of shape"):
        run.gradient(position=np.ones((1, 5, 2, 3)))
