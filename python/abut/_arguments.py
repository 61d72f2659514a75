"""Checks of arguments, with messages that name the argument, what it is and what is expected."""

from __future__ import annotations

import operator
import os
from typing import Any, NoReturn, Optional

import numpy as np

LARGEST_INTEGER = 2**31 - 1


def refuse(name: str, value: Any, expected: str) -> NoReturn:
    """Raises TypeError about an argument."""
    text = repr(value)
    if len(text) > 80:
        text = text[:77] + "..."
    raise TypeError(f"{name}: {text} of type {type(value).__name__}, expected {expected}")


def instance(name: str, value: Any, kind: Any, expected: str) -> Any:
    """The value, which is of the kind."""
    if not isinstance(value, kind):
        refuse(name, value, expected)
    return value


def integer(name: str, value: Any) -> int:
    """A whole number of 32 bits; its range is checked where it is used."""
    if isinstance(value, (bool, np.bool_)):
        refuse(name, value, "an integer")
    try:
        number = operator.index(value)
    except TypeError:
        refuse(name, value, "an integer")
    if abs(number) > LARGEST_INTEGER:
        raise ValueError(f"{name} = {number}, allowed: at most {LARGEST_INTEGER}")
    return number


def byte_count(name: str, value: Any) -> int:
    """A whole number of bytes."""
    number = operator.index(instance(name, value, (int, np.integer), "an integer"))
    if not 0 <= number < 2**63:
        raise ValueError(f"{name} = {number}, allowed: 0 to 2^63 - 1")
    return number


def world_index(world: Any, worlds: int, lowest: int = 0) -> int:
    """The index of a world, from `lowest` on. Raises IndexError for one that there is not."""
    index = instance("world", world, (int, np.integer), "an integer")
    if not lowest <= index < worlds:
        raise IndexError(f"world {index} of {worlds}")
    return int(index)


def flag(name: str, value: Any) -> bool:
    """True or False."""
    return bool(instance(name, value, (bool, np.bool_), "True or False"))


def path_text(name: str, path: Any) -> str:
    """A path as text."""
    text = os.fsdecode(instance(name, path, (str, bytes, os.PathLike), "a path"))
    if not text:
        raise ValueError(f"{name}: an empty path")
    return text


class Immutable:
    """What never changes, so that it is its own copy, and is not pickled."""

    _instead = ""
    """What to do instead of pickling it."""

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Optional[dict[int, Any]]) -> Any:
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be pickled; {self._instead}")
