"""Pictures, by the programs abut-view and abut."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

from ._arguments import path_text
from ._rollout import Run
from ._scene import Scene

Source = Union[Run, Scene, str, "os.PathLike[str]"]
"""A run, a scene, or the path of either."""


def _program(name: str) -> str:
    """The path of a program of Abut: beside this package, else on the path. Raises
    FileNotFoundError."""
    for folder in Path(__file__).absolute().parents:
        candidate = folder / "bin" / name
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"the program {name} is neither beside the package nor on the path")
    return found


def _scene_file(path: str, owner: Any, folder: str) -> str:
    """The path of a scene; a copy in the folder of one that goes with its owner."""
    return path if owner is None else shutil.copy(path, folder)


def _files(source: Source, world: int, folder: str) -> tuple[str, Optional[str]]:
    """The scene and the trajectory of a source; a run's is written into the folder."""
    if isinstance(source, Scene):
        return _scene_file(source.path, source._folder, folder), None
    if isinstance(source, Run):
        trajectory = os.path.join(folder, "run.npz")
        source.save(trajectory, world)
        return _scene_file(source.simulator.path, source.simulator._folder, folder), trajectory
    path = path_text("source", source)
    if path.endswith(".npz"):
        with np.load(path) as saved:
            return str(saved["scene"]), path
    return path, None


_RUN_THEN_REMOVE = """
folder=$1; shift
"$@" & child=$!
trap 'kill "$child"' INT TERM
wait "$child"; status=$?
rm -rf "$folder"
exit "$status"
"""


def view(source: Source, world: int = 0, *, options: Sequence[str] = ()) -> subprocess.Popen[Any]:
    """Opens the viewer (docs/viewer.md) on a scene or a run, and does not wait for it.

    It shows the motion of a run on the bodies of the scene file: parameters that change shapes do
    not show. It may go on after this program; its files are removed when it ends.

    world: which one of a run. options: further ones of abut-view.
    Raises FileNotFoundError where the viewer is not installed.
    """
    program = _program("abut-view")
    folder = tempfile.mkdtemp(prefix="abut_view_")
    try:
        scene, trajectory = _files(source, world, folder)
        command = [program, scene, *([trajectory] if trajectory else []), *options]
        return subprocess.Popen(["/bin/sh", "-c", _RUN_THEN_REMOVE, "sh", folder, *command])
    except BaseException:
        shutil.rmtree(folder)
        raise


def snapshot(
    source: Source,
    path: Union[str, os.PathLike[str]],
    world: int = 0,
    *,
    frame: int = -1,
    width: int = 1280,
    height: int = 720,
    camera_from: Optional[Sequence[float]] = None,
    camera_to: Optional[Sequence[float]] = None,
) -> None:
    """Draws a picture (.png) of a scene, or of one state of a run, without a display.

    Bodies have the shapes of the scene file, whatever the parameters of a run.

    world, frame: which state of a run; negative frames count from the end.
    width, height: [pixels]. camera_from, camera_to: (3) [m]; left out, all bodies are in view.
    Raises RuntimeError with what the program says where it fails, FileNotFoundError where it is not
    installed.
    """
    with tempfile.TemporaryDirectory(prefix="abut_") as folder:
        scene, trajectory = _files(source, world, folder)
        command = [_program("abut"), "snapshot", scene, "--out", os.fspath(path), "--quiet"]
        command += ["--width", str(width), "--height", str(height)]
        if trajectory is not None:
            command += ["--trajectory", trajectory, "--frame", str(frame)]
        for name, point in (("--camera-from", camera_from), ("--camera-to", camera_to)):
            if point is not None:
                command += [name, ",".join(repr(float(x)) for x in point)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"abut snapshot ended with {done.returncode}")
