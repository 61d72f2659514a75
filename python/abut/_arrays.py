"""Arrays to and from the module _abut, which takes and gives buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arguments import refuse

Doubles = NDArray[np.float64]

STATE_WIDTHS = {"position": 3, "orientation_wxyz": 4, "linear_velocity": 3, "angular_velocity": 3}
"""The arrays of bodies of a state, and how many numbers of each a body has."""

JOINT_ARRAYS = ("joint_coordinate", "joint_rate")
"""The arrays of joints of a state, a number for each hinge and slider."""


def doubles(array: ArrayLike, name: str, *axes: Optional[int]) -> Doubles:
    """The array as float64 in C order, of the given lengths of its last axes (None: any). Axes of
    length 1 are put in front where it has fewer. Raises TypeError or ValueError naming it."""
    try:
        given = np.asarray(array)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    numbers = given.dtype.kind in "biuf" or (
        given.dtype.kind == "O" and all(isinstance(element, Real) for element in given.flat)
    )
    if not numbers:
        refuse(name, array, "an array of real numbers")
    result = np.ascontiguousarray(given, dtype=np.float64)
    if result.ndim < len(axes):
        result = result.reshape((1,) * (len(axes) - result.ndim) + result.shape)
    fits = result.ndim == len(axes) and result.shape[:1] != (0,) and all(
        wanted is None or wanted == length for wanted, length in zip(axes, result.shape)
    )
    if not fits:
        shape = ", ".join("any" if axis is None else str(axis) for axis in axes)
        raise ValueError(f"{name}: an array of shape {np.shape(array)}, expected ({shape})")
    return result


def command_rows(
    commands: Optional[ArrayLike], axes: tuple[None, ...], motor_names: Sequence[str]
) -> Optional[Doubles]:
    """The array of commands, with a last axis of motors behind `axes`; None stays None."""
    if commands is None:
        return None
    if not motor_names:
        raise ValueError("commands: the scene has no motor")
    return doubles(commands, "commands", *axes, len(motor_names))


def state_rows(state: Any, bodies: int, joints: int) -> list[Optional[Doubles]]:
    """The arrays of a state, each (rows, bodies, width) or (rows, joints) or None: of a mapping by
    their names, or of an object that has them as attributes."""
    names = (*STATE_WIDTHS, *JOINT_ARRAYS)
    if state is None:
        return [None] * len(names)
    if isinstance(state, Mapping):
        unknown = set(state) - set(names)
        if unknown:
            first = min(unknown, key=str)
            raise ValueError(f"initial: there is no {first!r}, known are {', '.join(names)}")
        given = dict(state)
    else:
        if not all(hasattr(state, name) for name in STATE_WIDTHS):
            refuse("initial", state, "a State, or a mapping of arrays by name")
        given = {name: getattr(state, name, None) for name in names}
    return [
        None
        if given.get(name) is None
        else doubles(given[name], name, None, bodies, STATE_WIDTHS[name])
        if name in STATE_WIDTHS
        else doubles(given[name], name, None, joints)
        for name in names
    ]
