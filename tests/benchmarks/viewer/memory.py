"""Memory of the viewer: what 1,000 bodies of one geometry take above an empty scene.

    python3 tests/benchmarks/viewer/memory.py [build/release/bin/abut-view] [--bodies 1000] [--pictures 3]

Writes scenes of a floor with layers of bodies that fall onto it, draws some pictures of each without a display in
each quality, and prints the largest resident memory of the program [MB] beside that of the floor alone.
"""

import argparse
import os
import pathlib
import sys
import tempfile

FLOOR = '[simulation]\nsteps = 100\n[[body]]\nname = "floor"\nfixed = true\n[[body.primitive]]\nkind = "half_space"\n'
SPHERE = '[[body.primitive]]\nkind = "sphere"\nradius = 0.05\n'
BOX = '[[body.primitive]]\nkind = "rounded_box"\nhalf_extents = [{}]\nedge_radius = {}\n'
CAPSULE = '[[body.primitive]]\nkind = "capsule"\nradius = 0.02\nhalf_length = 0.06\n'
KINDS = {
    "boxes": BOX.format("0.05, 0.05, 0.05", 0.0),
    "balls": SPHERE,
    "unions of three primitives": SPHERE + CAPSULE + BOX.format("0.06, 0.02, 0.02", 0.005),
}


def scene(primitives, bodies):
    text = FLOOR
    for i in range(bodies):
        x, y, z = 0.15 * (i % 10), 0.15 * (i // 10 % 10), 0.08 + 0.15 * (i // 100)
        text += f'[[body]]\nname = "body {i}"\ndensity = 1000\nposition = [{x:.2f}, {y:.2f}, {z:.2f}]\n{primitives}'
    return text


def largest_memory(command):
    """Largest resident memory of a program [MB]."""
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    return usage.ru_maxrss * 1024 / 1e6


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("program", nargs="?", default="build/release/bin/abut-view")
    options.add_argument("--bodies", type=int, default=1000)
    options.add_argument("--pictures", type=int, default=3)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'':28}{'plain':>8}{'full':>8}   [MB]")
        empty = {}
        scenes = {"floor alone": FLOOR}
        scenes.update((kind, scene(primitives, given.bodies)) for kind, primitives in KINDS.items())
        for kind, text in scenes.items():
            file = pathlib.Path(folder) / "scene.toml"
            file.write_text(text)
            line = f"{kind:28}"
            for quality in ("plain", "full"):
                memory = largest_memory([given.program, str(file), "--headless", "--quality", quality,
                                         "--frames", str(given.pictures)])
                line += f"{memory:8.0f}" if kind == "floor alone" else f"{memory - empty[quality]:+8.0f}"
                empty.setdefault(quality, memory)
            print(line, flush=True)


if __name__ == "__main__":
    main()
