#!/usr/bin/env python3
"""Includes go one way: from an upper layer to those below it.

A unit is a header with its source file. Folders stand in the order of LAYERS; a unit may include those of its own
folder and of folders before it, but for pairs of folders that are INDEPENDENT. Headers never include each other in a
circle; in dynamics/, units do not either. What a user's program includes reaches few headers, and none of those that
hold the machinery of contact detection: they take most of the time and memory of the compiler.
Usage: includes.py SOURCE_DIRECTORY
"""

import re
import sys
from pathlib import Path

LAYERS = [
    "engine",
    "collision",
    "dynamics/contact_laws",
    "dynamics/motion",
    "dynamics/rows",
    "dynamics/trees",
    "dynamics/kernel",
    "dynamics/block_matrix",
    "dynamics/solver",
    "dynamics/other_laws",
    "dynamics/step",
    "dynamics/rollout",
    "dynamics/parameters",
    "dynamics/gradient_check",
    "dynamics",
    "apps/picture",
    "apps/planning",
    "apps",
    "python",
]
INDEPENDENT = [("apps/identification", "apps/planning")]                    # neither includes the other
USER_HEADERS = ["dynamics/simulator.h", "engine/scene_io.h"]                # of the program in README.md
MOST_HEADERS = 48                                                           # that these may reach
INTERNAL = re.compile("collision/(sdf|convex|detectors)/|collision/manifold/(kernel/|contact_detector.h)|"
                      "dynamics/(kernel|solver/.*_solver|step/step_memory)")          # none of which users' programs read
INCLUDE = re.compile(r'^\s*#include "([^"]+)\.h"', re.MULTILINE)


def layer_of(unit):
    """The deepest entry of LAYERS that the unit lies in, or None."""
    found = [k for k, layer in enumerate(LAYERS) if unit.startswith(layer + "/")]
    return max(found, key=lambda k: len(LAYERS[k])) if found else None


def read_units(root, tops, endings):
    """{unit: units that its files include}, units as paths without an ending."""
    files = [path for top in tops for path in (root / top).rglob("*") if path.suffix in endings]
    units = {}
    for path in files:
        unit = path.relative_to(root).with_suffix("").as_posix()
        units.setdefault(unit, set()).update(INCLUDE.findall(path.read_text(encoding="utf-8")))
    return {unit: {other for other in others if other in units and other != unit} for unit, others in units.items()}


def wrong_directions(units):
    """Includes of an upper layer by a lower one, and units that lie in none."""
    for unit, others in sorted(units.items()):
        layer = layer_of(unit)
        if layer is None:
            yield f"{unit}: in no layer of {Path(__file__).name}"
            continue
        for other in sorted(others):
            other_layer = layer_of(other)
            if other_layer is not None and other_layer > layer:
                yield f"{unit} includes {other}: {LAYERS[layer]} lies below {LAYERS[other_layer]}"


def broken_independence(units):
    """Includes between folders that must not need each other."""
    for pair in INDEPENDENT:
        for one, other in (pair, pair[::-1]):
            for unit, included in sorted(units.items()):
                for needed in sorted(included):
                    if unit.startswith(one + "/") and needed.startswith(other + "/"):
                        yield f"{unit} includes {needed}: {one} and {other} are independent"


def circle(units, start):
    """A shortest way of includes from a unit back to itself, or None."""
    ways = [[start]]
    seen = set()
    for way in ways:
        for other in sorted(units[way[-1]]):
            if other == start:
                return [*way, start]
            if other not in seen:
                seen.add(other)
                ways.append([*way, other])
    return None


def circles(units):
    """One line for each circle, which is named by its first unit."""
    for unit in sorted(units):
        way = circle(units, unit)
        if way and unit == min(way):
            yield "circle: " + " -> ".join(way)


def reached_headers(root, text):
    """Headers of ours that a source text includes, directly or through others, as paths with an ending."""
    reached = set()
    ahead = [name + ".h" for name in INCLUDE.findall(text)]
    while ahead:
        name = ahead.pop()
        if name in reached or not (root / name).is_file():
            continue
        reached.add(name)
        ahead += [other + ".h" for other in INCLUDE.findall((root / name).read_text(encoding="utf-8"))]
    return reached


def heavy_programs(root):
    """One line for each internal header that a user's program reads, and one if it reads too many."""
    reached = reached_headers(root, "".join(f'#include "{header}"\n' for header in USER_HEADERS))
    for header in sorted(reached):
        if INTERNAL.match(header):
            yield f"{' and '.join(USER_HEADERS)} reach {header}, which is internal"
    if len(reached) > MOST_HEADERS:
        yield f"{' and '.join(USER_HEADERS)} reach {len(reached)} headers, allowed: {MOST_HEADERS}"


def main():
    root = Path(sys.argv[1])
    tops = ("engine", "collision", "dynamics", "apps", "python")
    units = read_units(root, tops, (".h", ".cpp"))
    errors = [
        *wrong_directions(units),
        *broken_independence(units),
        *circles(read_units(root, tops, (".h",))),
        *circles(read_units(root, ("dynamics",), (".h", ".cpp"))),
        *heavy_programs(root),
    ]
    for error in errors:
        print(error)
    if not units:
        print("no units found")
    return 1 if errors or not units else 0


if __name__ == "__main__":
    sys.exit(main())
