"""What rollouts come to, and their gradients."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _abut
from ._arguments import Immutable, integer, path_text, world_index
from ._arrays import JOINT_ARRAYS, STATE_WIDTHS, Doubles, doubles
from ._warnings import RunWarning, run_warnings

if TYPE_CHECKING:
    from ._scene import Simulator


class SimulationError(RuntimeError):
    """A step that failed: it did not converge, a number was not finite, bodies were too deep in
    each other, too fast, or turned too far.

    The message says which step, body and contact, and what to try.
    """

    def __init__(self, message: str, world: int = 0, step: int = 0, status: str = "") -> None:
        super().__init__(message)
        self.world = world
        """Index of the world."""
        self.step = step
        """Number of the step that failed, from 0."""
        self.status = status
        """"not_converged", "non_finite", "too_deep", "too_fast", "turns_too_far" or "jumped"."""


@dataclass(frozen=True)
class StateArrays:
    """States of bodies, or cotangents of them, with any leading axes."""

    position: Doubles
    """(..., n, 3), of the origin of each asset's frame [m]."""
    orientation_wxyz: Doubles
    """(..., n, 4), unit quaternions of the assets' frames."""
    linear_velocity: Doubles
    """(..., n, 3), of the centres of mass [m/s]."""
    angular_velocity: Doubles
    """(..., n, 3) [rad/s]."""
    joint_coordinate: Optional[Doubles] = None
    """(..., m), of the hinges, turns counted [rad], and sliders [m]."""
    joint_rate: Optional[Doubles] = None
    """(..., m) [rad/s or m/s]."""


@dataclass(frozen=True)
class Health:
    """How a gradient came about, and whether to trust it: docs/gradients.md."""

    largest_growth: float
    """The largest factor by which one step multiplies the adjoint."""
    growth_over_free: float
    """How much more the adjoint grows than in free motion; above 50 the gradient may not hold
    for a change of 1 %."""
    share_near_kink: float
    """Share of the contacts beside a kink of the contact law or of a shape, from 0 to 1."""
    contacts: int
    """Contacts of all steps."""
    warnings: list[str]
    """Sentences that name step and body."""


class Gradient:
    """Derivatives of one loss per world by everything that the world was given.

    W worlds of T steps with n bodies and P parameters. Those of a world that failed are NaN; they
    are 0 where its cotangent is 0.
    """

    def __init__(self, native: _abut.Gradients, worlds: int) -> None:
        self.values: Doubles = np.asarray(native.values)
        """(W, P): dL/d(parameter), per its unit. NaN for settings of the time step, which have no
        derivatives."""
        self.controls: Doubles = np.asarray(native.controls)
        """(W, T, n, 6): dL/d[torque; force] of each step [1/(N m); 1/N]."""
        self.commands: Doubles = np.asarray(native.commands)
        """(W, T, u): dL/d(command of each motor) of each step, per its unit."""
        self.gains: Doubles = np.asarray(native.gains)
        """(W, 6): dL/d(gain of the feedback); (W, 0) without one."""
        self.initial = StateArrays(
            *(np.asarray(getattr(native, name)) for name in (*STATE_WIDTHS, *JOINT_ARRAYS))
        )
        """(W, n, 3 or 4) and (W, m): dL/d(initial state); of quaternions along the unit sphere, of
        joints with all that moves beyond them, NaN where they cannot move by themselves."""
        self.health: list[Health] = [Health(**native.health(world)) for world in range(worlds)]
        """One for each world."""


class Run(Immutable):
    """Rollouts of W worlds, T steps and n bodies, as arrays without a copy.

    The arrays have the names and contents of the trajectory files of `abut run`, with an axis of
    worlds in front.
    """

    _instead = "save() its arrays, or pickle those"

    def __init__(self, simulator: Simulator, native: _abut.Rollouts, values: Doubles) -> None:
        self._native = native
        self.simulator = simulator
        """The simulator that made it."""
        self.values: Doubles = values
        """(W, P), of the parameters in each world."""
        self.time: Doubles = np.asarray(native.time)
        """(W, T + 1) [s]."""
        self.position: Doubles = np.asarray(native.position)
        """(W, T + 1, n, 3), of the origin of each asset's frame [m]; NaN after a failure, as all
        that follow."""
        self.orientation_wxyz: Doubles = np.asarray(native.orientation_wxyz)
        """(W, T + 1, n, 4), unit quaternions of the assets' frames."""
        self.linear_velocity: Doubles = np.asarray(native.linear_velocity)
        """(W, T + 1, n, 3), of the centres of mass [m/s]."""
        self.angular_velocity: Doubles = np.asarray(native.angular_velocity)
        """(W, T + 1, n, 3) [rad/s]."""
        self.joint_coordinate: Doubles = np.asarray(native.joint_coordinate)
        """(W, T + 1, m), of the hinges, turns counted [rad], and sliders [m]."""
        self.joint_rate: Doubles = np.asarray(native.joint_rate)
        """(W, T + 1, m) [rad/s or m/s]."""
        self.energy: Doubles = np.asarray(native.energy)
        """(W, T + 1), kinetic and potential [J]."""
        self.contacts: NDArray[np.int64] = np.asarray(native.contacts)
        """(W, T + 1): contacts of the step that ended then, 0 at the start."""
        self.motor_force: Doubles = np.asarray(native.motor_force)
        """(W, T + 1, u): what each motor gave on the mean of the step that ended then [N m or N], 0 at
        the start."""

    @property
    def worlds(self) -> int:
        """W."""
        return self._native.worlds

    @property
    def steps(self) -> int:
        """T."""
        return self._native.steps

    @property
    def ok(self) -> bool:
        """Whether every step of every world ended well."""
        return self._native.first_failed < 0

    @cached_property
    def warnings(self) -> list[RunWarning]:
        """What `abut run` warns of: for each world of its initial state, then of its steps."""
        return run_warnings(self._native.warnings())

    def failure(self, world: int = 0) -> Optional[SimulationError]:
        """Why a world failed, None if it did not. Raises IndexError for a world out of range."""
        steps, status, text = self._native.failure(world_index(world, self.worlds))
        if not text:
            return None
        return SimulationError(
            text if self.worlds == 1 else f"world {world}: {text}", world, steps, status
        )

    def gradient(
        self,
        *,
        position: Optional[ArrayLike] = None,
        orientation_wxyz: Optional[ArrayLike] = None,
        linear_velocity: Optional[ArrayLike] = None,
        angular_velocity: Optional[ArrayLike] = None,
        joint_coordinate: Optional[ArrayLike] = None,
        joint_rate: Optional[ArrayLike] = None,
        threads: int = 0,
    ) -> Gradient:
        """The exact gradient of a loss of the states, by the adjoint of each rollout.

        Each argument is dL/d(the array of that name), of its shape; left out, the loss does not
        depend on it. The loss is a sum over worlds, or one for each: worlds do not depend on each
        other.

        threads: as in Simulator.rollout().
        Raises RuntimeError for a run with record=False.
        """
        of_bodies = (position, orientation_wxyz, linear_velocity, angular_velocity)
        of_joints = (joint_coordinate, joint_rate)
        bars = [
            None if array is None else doubles(array, name, *self.position.shape[:3], width)
            for array, (name, width) in zip(of_bodies, STATE_WIDTHS.items())
        ] + [
            None if array is None else doubles(array, name, *self.joint_coordinate.shape)
            for array, name in zip(of_joints, JOINT_ARRAYS)
        ]
        native = self._native.gradient(bars, integer("threads", threads))
        return Gradient(native, self.worlds)

    def save(self, path: Union[str, os.PathLike[str]], world: Optional[int] = None) -> None:
        """Writes a NumPy archive (.npz).

        Of one world, or of the run where it has one alone: the trajectory file of `abut run --out`,
        which `abut-view` shows and `abut snapshot --trajectory` draws. Of several worlds: the same
        arrays with an axis of worlds in front, and `parameters` (W, P) with `parameter_names`.

        The archive names the scene file. That of a Model goes with it: to open the archive later, write
        the scene first (Model.write) and load() it.
        """
        target = path_text("path", path)
        if world is None and self.worlds == 1:
            world = 0
        if world is not None:
            world = world_index(world, self.worlds, -self.worlds)
        rows = slice(None) if world is None else world
        joint_arrays = JOINT_ARRAYS if self.simulator.joint_names else ()
        arrays: dict[str, np.ndarray] = {
            name: np.asarray(getattr(self, name)[rows])
            for name in ("time", *STATE_WIDTHS, *joint_arrays, "energy", "contacts", "motor_force")
        }
        arrays["body_names"] = np.array(self.simulator.body_names)
        if joint_arrays:
            arrays["joint_names"] = np.array(self.simulator.joint_names)
        arrays["scene"] = np.array(os.path.abspath(self.simulator.path))
        if world is None:
            arrays["parameters"] = self.values
            arrays["parameter_names"] = np.array(
                [parameter.name for parameter in self.simulator.parameters]
            )
        with open(target, "wb") as file:
            np.savez(file, **arrays)
