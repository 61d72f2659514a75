"""Rollouts as a function that JAX differentiates: `import abut.jax`.

    jax.config.update("jax_enable_x64", True)
    states = abut.jax.rollout(simulator, steps=500, values=v)
    states["position"]

The function may be jitted; it runs on the host, by a callback. Reverse mode alone: the backward
pass simulates once more, as JAX keeps arrays and nothing else between the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import jax
import jax.numpy as jnp
import numpy as np

from ._arrays import STATE_WIDTHS
from ._scene import Simulator

_AXES = {"values": 2, "controls": 4, "commands": 3, **dict.fromkeys(STATE_WIDTHS, 3)}


def _simulate(
    simulator: Simulator, steps: int, threads: int, inputs: Mapping[str, Any], record: bool
) -> Any:
    initial = {name: np.asarray(inputs[name]) for name in STATE_WIDTHS if name in inputs}
    return simulator.rollout(
        steps,
        values=inputs.get("values"),
        controls=inputs.get("controls"),
        commands=inputs.get("commands"),
        initial=initial or None,
        threads=threads,
        record=record,
        on_failure="nan",
    )


def rollout(
    simulator: Simulator,
    steps: int,
    *,
    values: Optional[Any] = None,
    controls: Optional[Any] = None,
    commands: Optional[Any] = None,
    initial: Optional[Mapping[str, Any]] = None,
    threads: int = 0,
) -> dict[str, Any]:
    """Simulator.rollout() of arrays of JAX.

    Returns the states by name: position, orientation_wxyz, linear_velocity, angular_velocity, each
        (W, T + 1, n, 3 or
    4). Arguments, shapes and units are those of Simulator.rollout(); states after a failure, and
    gradients of a world that failed, are NaN. Raises ValueError unless JAX works in double
    precision.
    """
    if not jax.config.jax_enable_x64:
        raise ValueError(
            'abut.jax needs double precision: jax.config.update("jax_enable_x64", True)'
        )
    given = {"values": values, "controls": controls, "commands": commands, **(initial or {})}
    unknown = set(given) - set(_AXES)
    if unknown:
        raise ValueError(
            f"initial: there is no {sorted(unknown)[0]!r}, known are {', '.join(STATE_WIDTHS)}"
        )
    inputs = {}
    for name, array in given.items():
        if array is None:
            continue
        rows = jnp.asarray(array, dtype=jnp.float64)
        inputs[name] = rows.reshape((1,) * (_AXES[name] - rows.ndim) + rows.shape)
    worlds = max((array.shape[0] for array in inputs.values()), default=1)
    bodies = len(simulator.body_names)
    shapes = {
        name: jax.ShapeDtypeStruct((worlds, steps + 1, bodies, width), jnp.float64)
        for name, width in STATE_WIDTHS.items()
    }

    def on_host(arrays: Mapping[str, Any]) -> dict[str, np.ndarray]:
        run = _simulate(simulator, steps, threads, arrays, record=False)
        return {name: np.array(getattr(run, name)) for name in STATE_WIDTHS}

    def gradient_on_host(
        arrays: Mapping[str, Any], bars: Mapping[str, Any]
    ) -> dict[str, np.ndarray]:
        run = _simulate(simulator, steps, threads, arrays, record=True)
        gradient = run.gradient(
            **{name: np.asarray(bar) for name, bar in bars.items()}, threads=threads
        )
        result = {}
        for name, array in arrays.items():
            part = np.array(getattr(gradient.initial if name in STATE_WIDTHS else gradient, name))
            shape = np.shape(array)
            tiled = tuple(
                i for i, (whole, own) in enumerate(zip(part.shape, shape)) if own == 1 and whole > 1
            )
            result[name] = part.sum(axis=tiled, keepdims=True) if tiled else part
        return result

    @jax.custom_vjp
    def states(arrays: dict[str, Any]) -> dict[str, Any]:
        return jax.pure_callback(on_host, shapes, arrays, vmap_method="sequential")

    def forward(arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        return states(arrays), arrays

    def backward(arrays: dict[str, Any], bars: dict[str, Any]) -> tuple[dict[str, Any]]:
        like = {
            name: jax.ShapeDtypeStruct(array.shape, jnp.float64) for name, array in arrays.items()
        }
        return (jax.pure_callback(gradient_on_host, like, arrays, bars, vmap_method="sequential"),)

    states.defvjp(forward, backward)
    return states(inputs)
