"""Rollouts as one node of PyTorch's graph: `import abut.torch`.

    run = abut.torch.rollout(simulator, steps=500, values=v)
    loss = (run.position[:, -1, 1] - goal).square().sum()
    loss.backward()

Tensors are of float64 on the CPU. The states share their memory with the run: do not write to them.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple, Optional

import numpy as np
import torch

from ._arrays import STATE_WIDTHS
from ._rollout import Run
from ._scene import Simulator


class TorchRun(NamedTuple):
    """States of W worlds, T steps and n bodies, as tensors."""

    position: torch.Tensor
    """(W, T + 1, n, 3), of the origin of each asset's frame [m]."""
    orientation_wxyz: torch.Tensor
    """(W, T + 1, n, 4), unit quaternions of the assets' frames."""
    linear_velocity: torch.Tensor
    """(W, T + 1, n, 3), of the centres of mass [m/s]."""
    angular_velocity: torch.Tensor
    """(W, T + 1, n, 3) [rad/s]."""
    run: Run
    """The same as abut.Run, with time, energy and contacts."""


def _shared(array: np.ndarray) -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about memory that is to be read only
        return torch.from_numpy(array)


def _numbers(tensor: Optional[torch.Tensor]) -> Optional[np.ndarray]:
    return None if tensor is None else tensor.detach().cpu().numpy()


def _summed(gradient: np.ndarray, shape: torch.Size) -> torch.Tensor:
    """The gradient of an input that was tiled: the sum over those axes where it has length 1."""
    tensor = torch.from_numpy(np.array(gradient))
    axes = [
        i for i, (whole, given) in enumerate(zip(tensor.shape, shape)) if given == 1 and whole > 1
    ]
    return tensor.sum(dim=axes, keepdim=True) if axes else tensor


class _Rollout(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        simulator: Simulator,
        options: dict[str, Any],
        keep: list[Run],
        values: Optional[torch.Tensor],
        controls: Optional[torch.Tensor],
        commands: Optional[torch.Tensor],
        *initial: Optional[torch.Tensor],
    ) -> tuple[torch.Tensor, ...]:
        given: dict[str, Any] = {
            name: _numbers(tensor)
            for name, tensor in zip(STATE_WIDTHS, initial)
            if tensor is not None
        }
        run = simulator.rollout(
            values=_numbers(values),
            controls=_numbers(controls),
            commands=_numbers(commands),
            initial=given or None,
            **options,
        )
        keep.append(run)
        ctx.run = run
        ctx.threads = options["threads"]
        ctx.shapes = [
            None if tensor is None else tensor.shape
            for tensor in (values, controls, commands, *initial)
        ]
        ctx.set_materialize_grads(False)
        return tuple(_shared(getattr(run, name)) for name in STATE_WIDTHS)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *bars: Optional[torch.Tensor]) -> tuple[Optional[torch.Tensor], ...]:
        cotangents = {name: _numbers(bar) for name, bar in zip(STATE_WIDTHS, bars)}
        gradient = ctx.run.gradient(**cotangents, threads=ctx.threads)
        parts = [
            gradient.values,
            gradient.controls,
            gradient.commands,
            *(getattr(gradient.initial, name) for name in STATE_WIDTHS),
        ]
        found = (
            None if shape is None else _summed(part, shape)
            for part, shape in zip(parts, ctx.shapes)
        )
        return (None, None, None, *found)


def _rows(tensor: Optional[torch.Tensor], axes: int) -> Optional[torch.Tensor]:
    """As float64, with axes of length 1 in front."""
    if tensor is None:
        return None
    tensor = torch.as_tensor(tensor).to(torch.float64)
    return (
        tensor.reshape((1,) * (axes - tensor.ndim) + tuple(tensor.shape))
        if tensor.ndim < axes
        else tensor
    )


def rollout(
    simulator: Simulator,
    steps: int,
    *,
    values: Optional[torch.Tensor] = None,
    controls: Optional[torch.Tensor] = None,
    commands: Optional[torch.Tensor] = None,
    initial: Optional[dict[str, torch.Tensor]] = None,
    worlds: Optional[int] = None,
    threads: int = 0,
    on_failure: Literal["raise", "nan"] = "raise",
) -> TorchRun:
    """Simulator.rollout() of tensors, differentiable once by values, controls, commands and the
    initial state.

    Arguments, shapes, units and errors are those of Simulator.rollout(). The backward pass is one
    adjoint per world, on `threads` threads, without the interpreter's lock. The gradient of a world
    that failed is NaN.
    """
    unknown = set(initial or {}) - set(STATE_WIDTHS)
    if unknown:
        raise ValueError(
            f"initial: there is no {sorted(unknown)[0]!r}, known are {', '.join(STATE_WIDTHS)}"
        )
    tensors = [_rows((initial or {}).get(name), 3) for name in STATE_WIDTHS]
    options = {"steps": steps, "worlds": worlds, "threads": threads, "on_failure": on_failure}
    keep: list[Run] = []
    position, orientation, linear, angular = _Rollout.apply(
        simulator,
        options,
        keep,
        _rows(values, 2),
        _rows(controls, 4),
        _rows(commands, 3),
        *tensors,
    )
    return TorchRun(position, orientation, linear, angular, keep[0])
