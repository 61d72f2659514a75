"""The function that JAX differentiates, where JAX is installed."""

import numpy as np
import pytest

import abut

jax = pytest.importorskip("jax")
abut_jax = pytest.importorskip("abut.jax")


def test_double_precision_is_asked_for(slide: abut.Scene) -> None:
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(ValueError, match="jax_enable_x64"):
        abut_jax.rollout(slide.simulator(), 3)


def test_gradients_agree_with_differences_jitted_or_not(slide: abut.Scene) -> None:
    jax.config.update("jax_enable_x64", True)
    simulator = slide.simulator(["body.box.friction"])

    def loss(values, velocity):
        initial = {"linear_velocity": jax.numpy.zeros((2, 2, 3)).at[:, 1, 0].set(velocity)}
        states = abut_jax.rollout(simulator, 20, values=values, initial=initial)
        return (states["position"][:, -1, 1, 0] * jax.numpy.array([1.0, 2.0])).sum()

    values, velocity = jax.numpy.array([[0.3]]), jax.numpy.array(1.0)
    by_values, by_velocity = jax.grad(loss, argnums=(0, 1))(values, velocity)
    h = 1e-6
    expected = (loss(values + h, velocity) - loss(values - h, velocity)) / (2 * h)
    assert by_values[0, 0] == pytest.approx(float(expected), rel=1e-4)
    expected = (loss(values, velocity + h) - loss(values, velocity - h)) / (2 * h)
    assert by_velocity == pytest.approx(float(expected), rel=1e-4)
    jitted = jax.jit(jax.grad(loss))(values, velocity)
    assert np.array_equal(jitted, by_values)
