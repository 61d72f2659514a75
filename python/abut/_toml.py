"""Writes TOML files of what Python says, and remembers which line came from where."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from ._abut import InputError
from ._arguments import refuse

PATH_KEYS = ("asset", "mesh", "visual", "file", "scene")
"""Keys whose values are paths: relative ones are meant from the current folder."""


class Place(NamedTuple):
    """A line of the caller's."""

    file: str
    line: int


def caller() -> Place:
    """The line outside of this package that is being run."""
    package = os.path.dirname(__file__)
    frame = inspect.currentframe()
    while frame is not None and os.path.dirname(frame.f_code.co_filename) == package:
        frame = frame.f_back
    assert frame is not None
    return Place(frame.f_code.co_filename, frame.f_lineno)


def text_of(key: str, text: str) -> str:
    """A text as TOML has it. Raises ValueError naming the key for one that UTF-8 has not."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{key}: {text!a} cannot be written: {error.reason}") from None
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON leaves it


def key_text(key: Any) -> str:
    """A key as TOML has it."""
    if not isinstance(key, str):
        refuse("key", key, "a text")
    return text_of("key", key)


def value_text(key: str, value: Any) -> str:
    """A value as TOML has it. Raises TypeError naming the key for one that has no form there."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        fits = -(2**63) <= value < 2**63
        return str(int(value)) if fits else repr(float(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (str, os.PathLike)):
        text = os.fsdecode(value)
        return text_of(key, os.path.abspath(text) if key in PATH_KEYS else text)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key_text(k)} = {value_text(k, v)}" for k, v in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (bytes, bytearray)):
        return "[" + ", ".join(value_text(key, element) for element in value) + "]"
    raise TypeError(
        f"{key}: {value!r} is neither a number, nor a text, nor a list or mapping of these"
    )


def is_tables(value: Any) -> bool:
    """Whether it is a list of mappings, which TOML writes as [[key]]."""
    return (
        isinstance(value, (list, tuple))
        and bool(value)
        and all(isinstance(element, Mapping) for element in value)
    )


class Document:
    """A TOML file under construction."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._places: list[Optional[Place]] = []

    def _add(self, line: str, place: Optional[Place]) -> None:
        self._lines.append(line)
        self._places.append(place)

    def add(self, keys: Mapping[str, Any], place: Optional[Place] = None, prefix: str = "") -> None:
        """Writes the keys of a table, then its tables."""
        for key, value in keys.items():
            if value is not None and not is_tables(value):
                self._add(f"{key_text(key)} = {value_text(key, value)}", place)
        for key, value in keys.items():
            if is_tables(value):
                for table in value:
                    self.add_table(f"{prefix}{key}", table, place)

    def add_table(self, name: str, keys: Mapping[str, Any], place: Optional[Place] = None) -> None:
        """Writes one of the tables [[name]]."""
        self._add(f"[[{name}]]", place)
        self.add(keys, place, f"{name}.")

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    def write(self, path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text())

    def translated(self, error: InputError, path: str) -> InputError:
        """The error about a file that was written, as one about the line of the caller's that it
        came from."""
        if error.file != path:
            return error
        place = self._places[error.line - 1] if error.line else None
        where = f"{path}:{error.line}: " if error.line else f"{path}: "
        message = str(error).removeprefix(where)
        result = InputError(f"{place.file}:{place.line}: {message}" if place else message)
        result.file = place.file if place else ""
        result.line = place.line if place else None
        return result
