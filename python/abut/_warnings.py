"""Warnings of simulations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class RunWarning:
    """Why a simulation that ended well may not be the motion that the scene means:
    docs/scene_format.md, "Warnings"."""

    kind: str
    """Of the initial state: "overlap", "parted_joint", "turned_joint", "parting_joint",
    "turning_joint", "outside_joint". Of steps: "heavy_on_light", "long_step", "parted_joint", "left_out",
    "rounding", "lost_restitution"."""
    world: int
    """Index of the world."""
    step: Optional[int]
    """The first step with it, from 0; None for the initial state."""
    steps: int
    """Number of steps with it; 0 for the initial state."""
    body: str
    """Name of the body."""
    text: str
    """A sentence with the value of the worst step and a remedy, as `abut run` prints it."""

    def __str__(self) -> str:
        where = "at the start" if self.step is None else f"from step {self.step} on"
        return f"world {self.world}, {where}: {self.text}"


def run_warnings(
    native: Iterable[tuple[str, int, int, int, str, str]],
) -> list[RunWarning]:
    """The warnings of the C++ side, whose step is -1 for the initial state."""
    return [
        RunWarning(kind, world, None if step < 0 else step, steps, body, text)
        for kind, world, step, steps, body, text in native
    ]
