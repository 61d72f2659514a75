"""Scenes and the simulators of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _abut
from ._arguments import Immutable, byte_count, flag, instance, integer, path_text, refuse
from ._arrays import Doubles, command_rows, doubles, state_rows
from ._environment import Environment
from ._rollout import Run, SimulationError, StateArrays


@dataclass(frozen=True)
class Parameter:
    """A number of a scene by its name; which there are: docs/scene_format.md, "Parameters"."""

    name: str
    """Such as "body.box.friction"."""
    value: float
    """Of the scene."""
    unit: str
    """SI, "" for a number without one."""


@dataclass(frozen=True)
class Contacts:
    """The k contacts of a state whose activity is not zero, as arrays."""

    bodies: NDArray[np.int64]
    """(k, 2): indices of bodies A and B, A < B."""
    point: Doubles
    """(k, 3), midway between the two surfaces [m]."""
    normal: Doubles
    """(k, 3), from A to B; of unit length but where opposite faces oppose each other."""
    distance: Doubles
    """(k,), signed: negative in overlap [m]."""
    activity: Doubles
    """(k,), from 0 to 1."""

    def __len__(self) -> int:
        return len(self.distance)


class State(Immutable):
    """The state of n bodies at one time, which never changes. From Simulator.state() and
    Simulator.step()."""

    _instead = "pickle its arrays"

    def __init__(self, native: _abut.State) -> None:
        self._native = instance("native", native, _abut.State, "that of Simulator.state()")

    @property
    def time(self) -> float:
        """[s]."""
        return self._native.time

    @property
    def position(self) -> Doubles:
        """(n, 3), of the origin of each asset's frame [m]."""
        return np.asarray(self._native.position)

    @property
    def orientation_wxyz(self) -> Doubles:
        """(n, 4), unit quaternions of the assets' frames."""
        return np.asarray(self._native.orientation_wxyz)

    @property
    def linear_velocity(self) -> Doubles:
        """(n, 3), of the centres of mass [m/s]."""
        return np.asarray(self._native.linear_velocity)

    @property
    def angular_velocity(self) -> Doubles:
        """(n, 3) [rad/s]."""
        return np.asarray(self._native.angular_velocity)

    @property
    def joint_coordinate(self) -> Doubles:
        """(m,), of the hinges, turns counted [rad], and sliders [m]."""
        return np.asarray(self._native.joint_coordinate)

    @property
    def joint_rate(self) -> Doubles:
        """(m,) [rad/s or m/s]."""
        return np.asarray(self._native.joint_rate)

    @property
    def motor_force(self) -> Doubles:
        """(u,): what each motor gave on the mean of the step that led here [N m or N]."""
        return np.asarray(self._native.motor_force)


@dataclass(frozen=True)
class PositionFeedback:
    """A force on a body that follows its state:  f = stiffness (goal - p) - damping v,  component
    by component.

    p and v are those of its centre of mass in the world. The six gains of each world, stiffness
    along x, y, z [N/m] and damping [N s/m], are an input of rollout(), and gradients are those of
    the closed loop.
    """

    body: str
    goal: ArrayLike
    """(3,), of the centre of mass [m]."""


Initial = Union[State, StateArrays, Mapping[str, ArrayLike]]
"""A state, or some of its arrays by name; what is left out is that of the scene."""


class Simulator(Immutable):
    """A scene with named parameters, prepared for rollouts. From Scene.simulator().

    It never changes: any number of threads may use it.
    """

    _instead = "make one in each process, of the scene that load() or Model.scene() gives"

    def __init__(self, native: _abut.SceneSimulator, folder: Any = None) -> None:
        instance("native", native, _abut.SceneSimulator, "that of Scene.simulator()")
        self._native = native
        self._folder = folder
        self.path: str = os.path.abspath(native.path)
        """Of the scene file."""
        self.body_names: list[str] = native.body_names
        """In the order of the arrays' axis of bodies."""
        self.joint_names: list[str] = native.joint_names
        """The hinges and sliders, in the order of the arrays' axis of joints."""
        self.motor_names: list[str] = native.motor_names
        """The joints, couplings and actuators with a motor, in the order of the arrays' axis of
        commands."""
        self.parameters: list[Parameter] = [Parameter(*entry) for entry in native.parameters()]
        """In the order of the columns of `values`."""

    def body(self, name: str) -> int:
        """The index of a body. Raises ValueError naming those that there are."""
        if name not in self.body_names:
            raise ValueError(f"there is no body {name!r}, known are {', '.join(self.body_names)}")
        return self.body_names.index(name)

    def joint(self, name: str) -> int:
        """The index of a hinge or slider. Raises ValueError naming those that there are."""
        if name not in self.joint_names:
            known = ", ".join(self.joint_names) or "none"
            raise ValueError(f"there is no hinge or slider {name!r}, known are {known}")
        return self.joint_names.index(name)

    def rollout(
        self,
        steps: int,
        *,
        values: Optional[ArrayLike] = None,
        controls: Optional[ArrayLike] = None,
        commands: Optional[ArrayLike] = None,
        initial: Optional[Initial] = None,
        feedback: Optional[PositionFeedback] = None,
        gains: Optional[ArrayLike] = None,
        worlds: Optional[int] = None,
        threads: int = 0,
        record: bool = True,
        tape_bytes: int = 0,
        on_failure: Literal["raise", "nan"] = "raise",
    ) -> Run:
        """Simulates W worlds for T steps each, on several threads, without the interpreter's lock.

        W is the largest number of worlds that an input has; an input of one world is shared by all
        of them, and so are controls and commands of one step by all steps.

        steps: T >= 1.
        values: (W, P), of the simulator's parameters; left out, those of the scene.
        controls: (W, T, n, 6) [torque; force] on each body at its centre of mass, in the world [N
            m; N], added to the scene's pushes.
        commands: (W, T, u), added to the targets of the u motors and to the scene's commands
            [rad/s or m/s, rad or m, N m or N].
        initial: arrays (W, n, 3 or 4) of bodies and (W, m) of joints of a state. Joints move what
            is beyond them from where the other arrays, or the scene, put it. The rollout starts at
            the scene's initial time, also from a State of a later time.
        feedback: a force that follows the state, added to the controls.
        gains: (W, 6), those of the feedback.
        worlds: W, where no input says it.
        threads: >= 1, or 0 for all cores; results are the same to the last bit.
        record: False where no gradient is needed: faster, and without about 150 bytes a body and
            step.
        tape_bytes: memory of each world for steps that are kept whole; gradients through these are
            faster, and differ by rounding alone.
        on_failure: "raise" raises SimulationError for the first world that fails; "nan" leaves NaN
            from the step on that failed.
        Raises TypeError for arguments of the wrong type, ValueError for arrays of the wrong shape
        and numbers that are not allowed, naming the world.
        """
        bodies, width = len(self.body_names), len(self.parameters)
        of_values = None if values is None else doubles(values, "values", None, width)
        of_controls = (
            None if controls is None else doubles(controls, "controls", None, None, bodies, 6)
        )
        of_commands = command_rows(commands, (None, None), self.motor_names)
        of_initial = state_rows(initial, bodies, len(self.joint_names))
        of_feedback, of_gains = self._feedback(feedback, gains)
        rows = [
            len(array)
            for array in (of_values, of_controls, of_commands, of_gains, *of_initial)
            if array is not None
        ]
        count = max(rows, default=1) if worlds is None else integer("worlds", worlds)
        if on_failure not in ("raise", "nan"):
            raise ValueError(f"on_failure = {on_failure!r}, allowed: 'raise', 'nan'")
        native = _abut.rollout(
            self._native,
            count,
            integer("steps", steps),
            of_values,
            of_controls,
            of_commands,
            of_initial,
            integer("threads", threads),
            flag("record", record),
            byte_count("tape_bytes", tape_bytes),
            of_feedback,
        )
        if of_values is None:
            of_values = np.array([[parameter.value for parameter in self.parameters]])
        run = Run(self, native, np.broadcast_to(of_values.copy(), (count, width)))
        if on_failure == "raise" and not run.ok:
            failure = run.failure(native.first_failed)
            assert failure is not None
            raise failure
        return run

    def _feedback(
        self, feedback: Optional[PositionFeedback], gains: Optional[ArrayLike]
    ) -> tuple[Optional[tuple[int, float, float, float, Doubles]], Optional[Doubles]]:
        if feedback is None and gains is None:
            return None, None
        if feedback is None or gains is None:
            raise ValueError("a feedback and its gains come together")
        instance("feedback", feedback, PositionFeedback, "a PositionFeedback")
        array = doubles(gains, "gains", None, 6)
        x, y, z = (float(coordinate) for coordinate in doubles(feedback.goal, "goal", 3))
        if not np.isfinite([x, y, z]).all():
            raise ValueError(f"goal: [{x}, {y}, {z}], allowed: finite numbers")
        return (self.body(feedback.body), x, y, z, array), array

    def state(self, **arrays: ArrayLike) -> State:
        """The initial state of the scene, or one with other arrays in it: position=(n, 3), ...,
        joint_coordinate=(m,), see State."""
        rows = state_rows(arrays, len(self.body_names), len(self.joint_names))
        return State(self._native.state(rows))

    def step(
        self,
        state: Optional[State] = None,
        controls: Optional[ArrayLike] = None,
        commands: Optional[ArrayLike] = None,
    ) -> State:
        """The state one time step later.

        A function of its arguments alone, by the scene's own parameters.

        state: left out, the initial one.
        controls: (n, 6) [torque; force] on each body at its centre of mass, in the world [N m; N],
            added to the scene's pushes.
        commands: (u,), added to the targets of the motors and to the scene's commands.
        Raises SimulationError for a step that fails.
        """
        before = (
            self.state()._native
            if state is None
            else instance("state", state, State, "a State")._native
        )
        wrenches = (
            None if controls is None else doubles(controls, "controls", len(self.body_names), 6)
        )
        after = self._native.step(before, wrenches, command_rows(commands, (), self.motor_names))
        if after.status != "ok":
            raise SimulationError(after.failure, status=after.status)
        return State(after)

    def contacts(self, state: Optional[State] = None) -> Contacts:
        """The contacts of a state; left out, of the initial one."""
        of = self.state() if state is None else instance("state", state, State, "a State")
        arrays = self._native.contacts(of._native)
        return Contacts(**{name: np.asarray(buffer) for name, buffer in arrays.items()})

    def batch(self, worlds: int, *, threads: int = 0) -> Environment:
        """Worlds that are stepped together, all at the initial state.

        worlds: >= 1. threads: >= 1, or 0 for all cores.
        """
        return Environment(self._native, worlds, threads)


class Scene(Immutable):
    """A model with its initial state and settings. From load()."""

    _instead = "load() it in each process; a Model can be pickled"

    def __init__(self, native: _abut.LoadedScene) -> None:
        instance("native", native, _abut.LoadedScene, "that of load()")
        self._native = native
        self._folder: Any = None  # of the files of a scene that a program made
        self.path: str = os.path.abspath(native.path)
        """Of the scene file."""
        self.name: str = native.name
        self.body_names: list[str] = native.body_names
        """In the order of the arrays' axis of bodies."""
        self.time_step: float = native.time_step
        """[s]."""
        self.steps: int = native.steps
        """How many steps `abut run` takes."""

    def parameters(self) -> list[Parameter]:
        """All parameters that gradients exist for and that play a part in the motion."""
        return [Parameter(*entry) for entry in self._native.differentiable_parameters()]

    def value(self, name: str) -> float:
        """The value of a parameter. Raises ValueError for one that the scene has not, naming the
        closest."""
        return self._native.value(instance("name", name, str, "a text"))

    def simulator(self, parameters: Sequence[str] = ()) -> Simulator:
        """Prepares the scene for rollouts.

        parameters: names of numbers that differ from one world to the next, the columns of
            `values`. That of a vector, such as "body.box.linear_velocity", stands for its
            components.
        Raises ValueError for a name that the scene has not, or one that is given twice.
        """
        if isinstance(parameters, (str, bytes)) or not isinstance(parameters, Iterable):
            refuse("parameters", parameters, "a list of names")
        names = [str(instance("parameters", name, str, "a name")) for name in parameters]
        return Simulator(self._native.simulator(names), self._folder)


def load(path: Union[str, os.PathLike[str]]) -> Scene:
    """Reads a scene file (docs/scene_format.md). Raises InputError with file and line."""
    return Scene(_abut.load(path_text("path", path)))
