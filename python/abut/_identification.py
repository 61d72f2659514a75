"""Unknowns found from measured motions and goals."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Optional, Union

from . import _abut
from ._abut import InputError
from ._arguments import integer, path_text, refuse
from ._scene import Scene
from ._toml import Document, caller

Progress = Callable[[int, int, int, float], Optional[bool]]
"""Called after every iteration with the numbers of its start, stage and itself, and the loss; False
stops."""


@dataclass(frozen=True)
class Estimate:
    """A number that was found."""

    name: str
    """Such as "body.box.mass"."""
    unit: str
    """SI, "" for a number without one."""
    state: str
    """"told" by the data, "open", or "at_bound"."""
    value: float
    deviation: Optional[float]
    """Standard deviation; None where the data tell nothing."""
    lower_95: Optional[float]
    """End of the 95 % interval; None where the data tell nothing."""
    upper_95: Optional[float]
    initial: float
    """The guess."""
    truth: Optional[float]
    """Where the experiment states it."""


@dataclass(frozen=True)
class Goal:
    """How near a goal was reached."""

    motion: str
    what: str
    unit: str
    error: float
    tolerance: float
    reached: bool


@dataclass(frozen=True)
class Verdict:
    """What the answer is worth: docs/identification.md."""

    status: str
    """"explained", "reached", "at_bound", ..."""
    is_answer: bool
    headline: str
    reasons: list[str]
    checks: list[str]
    """What to look at where it is no answer."""


class Identification:
    """What identify() and optimize() return."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.report = report
        """Everything, as in result.json of the program: docs/identification.md."""
        self.verdict = Verdict(**report["verdict"])
        fields = Estimate.__dataclass_fields__
        self.estimates: list[Estimate] = [
            Estimate(**{name: row[name] for name in fields}) for row in report["estimates"]
        ]
        self.goals: list[Goal] = [Goal(**goal) for goal in report["goals"]]
        self.warnings: list[str] = report["warnings"]
        """Sentences about the answer: initial states that overlap or that joints do not fit, the
        gradient's health, and what else is to be known."""
        self.cost: Optional[float] = report["cost"]
        """Half the sum of squared residuals, each over its standard deviation or tolerance."""

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of a name."""
        for estimate in self.estimates:
            if estimate.name == name:
                return estimate
        raise KeyError(
            f"{name}: known are {', '.join(estimate.name for estimate in self.estimates)}"
        )

    def __str__(self) -> str:
        lines = [f"{self.verdict.status}: {self.verdict.headline}"]
        for estimate in self.estimates:
            spread = "" if estimate.deviation is None else f" +- {2.0 * estimate.deviation:.2g}"
            lines.append(
                f"  {estimate.name} = {estimate.value:.6g}{spread} {estimate.unit}".rstrip()
            )
        lines += [f"  {goal.what}: off by {goal.error:.3g} {goal.unit}" for goal in self.goals]
        return "\n".join(lines)


Experiment = Union[str, "os.PathLike[str]", Mapping[str, Any]]
"""The path of an experiment file, or its keys: {"scene": ..., "unknown": [{...}], "motion":
[{...}]}."""


def _search(
    experiment: Experiment, optimize_goals: bool, threads: int, progress: Optional[Progress]
) -> Identification:
    integer("threads", threads)
    if progress is not None and not callable(progress):
        refuse("progress", progress, "a function or None")
    if not isinstance(experiment, Mapping):
        path = path_text("experiment", experiment)
        return Identification(json.loads(_abut.identify(path, optimize_goals, threads, progress)))
    keys = dict(experiment)
    if isinstance(keys.get("scene"), Scene):
        keys["scene"] = keys["scene"].path
    document = Document()
    document.add(keys, caller())
    with tempfile.TemporaryDirectory(prefix="abut_") as folder:
        path = os.path.join(folder, "experiment.toml")
        document.write(path)
        try:
            return Identification(
                json.loads(_abut.identify(path, optimize_goals, threads, progress))
            )
        except InputError as error:
            raise document.translated(error, path) from None


def identify(
    experiment: Experiment, *, threads: int = 0, progress: Optional[Progress] = None
) -> Identification:
    """Finds the unknowns that explain measured motions, and how well they are known.

    experiment: a file as `abut identify` reads it, or its keys (docs/identification.md); relative
        paths in keys are meant from the current folder.
    threads: >= 1, or 0 for all cores.
    Raises InputError with file and line. Where there is no answer, verdict.is_answer is False.
    """
    return _search(experiment, False, threads, progress)


def optimize(
    experiment: Experiment, *, threads: int = 0, progress: Optional[Progress] = None
) -> Identification:
    """Finds the unknowns that reach goals, as `abut optimize` does. Arguments and errors as of
    identify()."""
    return _search(experiment, True, threads, progress)
