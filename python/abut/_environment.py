"""Worlds that are stepped together."""

from __future__ import annotations

from typing import Any, NoReturn, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _abut
from ._arguments import instance, integer, world_index
from ._arrays import Doubles, command_rows, doubles, state_rows
from ._warnings import RunWarning, run_warnings


class Environment:
    """W worlds of a scene with n bodies that are stepped together and reset one by one. From
    Simulator.batch().

    The arrays are views that follow the worlds: copy what is to be kept. A world whose step fails
    stays at the state before it until it is reset; the others go on. After a fork, parent and child
    have an environment each.
    """

    def __init__(self, simulator: _abut.SceneSimulator, worlds: int, threads: int = 0) -> None:
        instance("simulator", simulator, _abut.SceneSimulator, "that of Simulator.batch()")
        native = _abut.Environment(
            simulator, integer("worlds", worlds), integer("threads", threads)
        )
        self._native = native
        self._motor_names = simulator.motor_names
        self.position: Doubles = np.asarray(native.position)
        """(W, n, 3), of the origin of each asset's frame [m]."""
        self.orientation_wxyz: Doubles = np.asarray(native.orientation_wxyz)
        """(W, n, 4), unit quaternions of the assets' frames."""
        self.linear_velocity: Doubles = np.asarray(native.linear_velocity)
        """(W, n, 3), of the centres of mass [m/s]."""
        self.angular_velocity: Doubles = np.asarray(native.angular_velocity)
        """(W, n, 3) [rad/s]."""
        self.joint_coordinate: Doubles = np.asarray(native.joint_coordinate)
        """(W, m), of the hinges, turns counted [rad], and sliders [m]."""
        self.joint_rate: Doubles = np.asarray(native.joint_rate)
        """(W, m) [rad/s or m/s]."""
        self.time: Doubles = np.asarray(native.time)
        """(W,) [s]."""
        self.steps: NDArray[np.int64] = np.asarray(native.steps)
        """(W,): steps since the last reset."""
        self.contacts: NDArray[np.int64] = np.asarray(native.contacts)
        """(W,): contacts of the last step."""
        self.motor_force: Doubles = np.asarray(native.motor_force)
        """(W, u): what each motor gave on the mean of the last step [N m or N]."""
        self.failed: NDArray[np.bool_] = np.asarray(native.failed)
        """(W,): whether the last step failed."""

    @property
    def worlds(self) -> int:
        """W."""
        return self._native.worlds

    def step(
        self, controls: Optional[ArrayLike] = None, commands: Optional[ArrayLike] = None
    ) -> None:
        """One time step of every world that has not failed, without the interpreter's lock.

        controls: (W, n, 6), or (n, 6) for all worlds: [torque; force] on each body at its centre of
            mass, in the world [N m; N], added to the scene's pushes.
        commands: (W, u), or (u,) for all worlds: added to the targets of the motors and to the
            scene's commands.
        """
        bodies = self.position.shape[1]
        self._native.step(
            None if controls is None else doubles(controls, "controls", None, bodies, 6),
            command_rows(commands, (None,), self._motor_names),
        )

    def reset(self, mask: Optional[ArrayLike] = None, **arrays: ArrayLike) -> None:
        """Back to the initial state, or to another one.

        mask: (W,) of booleans, which worlds; left out, all of them.
        arrays: position=(W, n, 3), ..., joint_rate=(W, m) of the state to start from, or (n, 3),
            (m,) for all worlds; what is left out is that of the scene.
        """
        chosen = np.ones(self.worlds, bool) if mask is None else np.asarray(mask)
        if chosen.shape != (self.worlds,) or chosen.dtype != np.bool_:
            raise ValueError(
                f"mask: {chosen.dtype} of shape {chosen.shape}, expected bool of ({self.worlds},)"
            )
        rows = state_rows(arrays, self.position.shape[1], self.joint_coordinate.shape[1])
        self._native.reset(np.flatnonzero(chosen).tolist(), rows)

    def failure(self, world: int) -> Optional[str]:
        """Why the last step of a world failed, None if it did not."""
        return self._native.failure(world_index(world, self.worlds)) or None

    @property
    def warnings(self) -> list[RunWarning]:
        """What `abut run` warns of, of each world: of the state it was last reset to, and of its
        steps since."""
        return run_warnings(self._native.warnings())

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("an Environment is neither copied nor pickled; make another by batch()")
