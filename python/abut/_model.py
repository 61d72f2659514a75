"""Scenes made by a program, with the keys of scene files."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike

from ._abut import InputError
from ._arguments import instance, refuse
from ._scene import Scene, load
from ._toml import Document, Place, caller

Primitive = Mapping[str, Any]
"""A shape: keys of [[primitive]] in docs/scene_format.md."""


def primitive(kind: str, **keys: Any) -> Primitive:
    """A primitive of any kind. Further keys of all kinds: position=(3) [m], orientation=(4) wxyz,
    in the body's frame, operation="subtract"."""
    return {"kind": kind, **keys}


def sphere(radius: float, **keys: Any) -> Primitive:
    """A sphere. radius [m]."""
    return primitive("sphere", radius=radius, **keys)


def capsule(radius: float, half_length: float, **keys: Any) -> Primitive:
    """A capsule along z. radius [m], half_length [m] of the segment between the centres of its half
    spheres."""
    return primitive("capsule", radius=radius, half_length=half_length, **keys)


def box(half_extents: ArrayLike, edge_radius: float = 0.0, **keys: Any) -> Primitive:
    """A box. half_extents (3) [m], edge_radius [m] of its rounded edges."""
    return primitive("rounded_box", half_extents=half_extents, edge_radius=edge_radius, **keys)


def cylinder(radius: float, half_length: float, **keys: Any) -> Primitive:
    """A cylinder along z. radius, half_length [m]."""
    return primitive("cylinder", radius=radius, half_length=half_length, **keys)


def half_space(**keys: Any) -> Primitive:
    """The solid z <= 0 of its own frame; its body never moves."""
    return primitive("half_space", **keys)


def _kept(value: Any) -> Any:
    """A copy of a value with its arrays, which the caller may change afterwards."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, Mapping):
        return {key: _kept(element) for key, element in value.items()}
    return [_kept(element) for element in value] if isinstance(value, (list, tuple)) else value


class Model:
    """A scene under construction: bodies, joints, couplings, actuators, pairs, pushes and commands by keyword.

        model = abut.Model("ramp", time_step=0.002)
        model.add_body("floor", abut.half_space(), friction=0.6)
        model.add_body("box", abut.box([0.1, 0.1, 0.1], 0.01), mass=1.0, position=[0, 0, 0.1])
        scene = model.scene()

    Keys, units and defaults are those of scene files, docs/scene_format.md. Errors are InputError
    with the file and line of the call that they are about; they are raised by scene(). Relative
    paths are meant from the current folder.
    """

    def __init__(
        self,
        name: str = "model",
        *,
        contact: Union[Mapping[str, Any], None] = None,
        **simulation: Any,
    ) -> None:
        """name: of the scene. simulation: keys of [simulation], such as time_step [s], steps,
        gravity (3) [m/s^2]. contact: those of [simulation.contact]."""
        self._place = caller()
        self._name = name
        self._simulation = _kept(
            {**simulation, **({} if contact is None else {"contact": contact})}
        )
        self._tables: dict[str, list[tuple[Mapping[str, Any], Place]]] = {
            "body": [],
            "pair": [],
            "joint": [],
            "coupling": [],
            "actuator": [],
            "push": [],
            "command": [],
        }

    def __copy__(self) -> Model:
        return copy.deepcopy(self)

    def _add(self, table: str, keys: Mapping[str, Any]) -> Model:
        self._tables[table].append((_kept(keys), caller()))
        return self

    def add_body(
        self, name: str, shape: Union[Primitive, Sequence[Primitive]] = (), **keys: Any
    ) -> Model:
        """Adds a body.

        shape: a primitive, or several whose smooth union it is; none where `asset` names a body's
            folder.
        keys: those of [[body]], such as mass [kg] or density [kg/m^3], position (3) [m],
            rotation_vector (3) [rad], linear_velocity (3) [m/s], angular_velocity (3) [rad/s],
            friction, restitution, fixed.
        Returns the model.
        """
        expected = "a primitive such as sphere(0.1), or a list of them"
        if isinstance(shape, (str, bytes)) or not isinstance(shape, (Mapping, Iterable)):
            refuse("shape", shape, expected)
        primitives = [shape] if isinstance(shape, Mapping) else list(shape)
        for each in primitives:
            instance("shape", each, Mapping, expected)
        if primitives and "primitive" in keys:
            raise TypeError("primitive: given beside `shape`, which stands for it")
        return self._add(
            "body",
            {"name": name, **keys, "primitive": primitives}
            if primitives
            else {"name": name, **keys},
        )

    def add_joint(
        self, name: str, kind: str, body_B: str, body_A: Union[str, None] = None, **keys: Any
    ) -> Model:
        """Adds a joint of body_B with body_A, or with the world.

        kind: "fixed", "ball", "hinge", "slider" or "distance".
        keys: those of [[joint]], such as position (3) [m], axis (3), lower, upper, coordinate
            [rad or m], rate [rad/s or m/s], damping [N m s/rad or N s/m], friction [N m or N],
            armature [kg m^2 or kg], spring_stiffness [N m/rad or N/m], spring_position
            [rad or m], motor={"kind": ...}.
        Returns the model.
        """
        return self._add(
            "joint", {"name": name, "kind": kind, "body_A": body_A, "body_B": body_B, **keys}
        )

    def add_coupling(self, name: str, joints: Sequence[str], **keys: Any) -> Model:
        """Adds a coordinate that hinges and sliders share, the sum of coefficient * coordinate.

        joints: their names. keys: those of [[coupling]], such as coefficients (one for each joint, or a
            row of them for powers of its coordinate), held_at, lower, upper, spring_position
            [rad or m], damping [N m s/rad or N s/m], friction [N m or N], spring_stiffness
            [N m/rad or N/m], motor={"kind": ...}.
        Returns the model.
        """
        return self._add("coupling", {"name": name, "joints": list(joints), **keys})

    def add_actuator(
        self, name: str, kind: str, joint: Union[str, None] = None, **keys: Any
    ) -> Model:
        """Adds a motor that acts on a joint, or on coupling="..."; a joint may have several.

        kind: "position", "velocity", "force" or "affine".
        keys: those of [[actuator]], such as gear, target, stiffness, damping, gain, bias,
            limit [N m or N], command_limits (2).
        Returns the model.
        """
        return self._add("actuator", {"name": name, "kind": kind, "joint": joint, **keys})

    def add_pair(self, body_A: str, body_B: str, **keys: Any) -> Model:
        """Sets what is different between two bodies: keys of [[pair]], such as friction, collide.
        Returns the model."""
        return self._add("pair", {"bodies": [body_A, body_B], **keys})

    def add_push(self, body: str, until: float, **keys: Any) -> Model:
        """Adds a wrench that acts for a time.

        until: when it ends [s]. keys: those of [[push]]: `from` as from_ [s], force (3) [N], torque
            (3) [N m].
        Returns the model.
        """
        begin = {"from": keys.pop("from_")} if "from_" in keys else {}
        return self._add("push", {"body": body, "until": until, **begin, **keys})

    def add_command(
        self, joint: str, times: Sequence[float], values: Sequence[float], **keys: Any
    ) -> Model:
        """Tells the motor of a joint over time what to add to its target.

        times: (k,), increasing [s]. values: (k,), in the unit of the target. keys: those of
            [[command]]: interpolation, "held" or "linear".
        Returns the model.
        """
        return self._add(
            "command", {"joint": joint, "times": list(times), "values": list(values), **keys}
        )

    def _document(self) -> Document:
        document = Document()
        document.add({"name": self._name, "simulation": self._simulation}, self._place)
        for name, tables in self._tables.items():
            for keys, place in tables:
                document.add_table(name, keys, place)
        return document

    def text(self) -> str:
        """The scene file, as text."""
        return self._document().text()

    def write(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the scene file, which `abut run` and `abut-view` read."""
        self._document().write(os.fspath(path))

    def scene(self) -> Scene:
        """The scene. Raises InputError with the file and line of the call that something is wrong
        with."""
        folder = tempfile.TemporaryDirectory(prefix="abut_")
        path = os.path.join(folder.name, "model.toml")
        document = self._document()
        document.write(path)
        try:
            scene = load(path)
        except InputError as error:
            raise document.translated(error, path) from None
        scene._folder = folder  # as long as the scene is in use
        return scene
