#!/usr/bin/env python3
"""What Python costs: rollouts and single steps against the same work of C++.

    PYTHONPATH=build/release/python python3 tests/benchmarks/python_overhead.py [SCENE] [--repeat N]

The time of C++ is that of the call of the module _abut, which is what `tiled_rollouts()` takes;
that of Python is the whole call of the package. Prints the least of several, and the overhead.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import abut
from abut import _abut

SOURCE = Path(__file__).resolve().parents[2]


def seconds(works: list[Callable[[], object]], repeat: int) -> list[float]:
    """The least time of each work, which take turns: of the processor, not of the clock, so that
    other programs do not count."""
    best = [float("inf")] * len(works)
    for _ in range(repeat):
        for i, work in enumerate(works):
            start = time.process_time()
            work()
            best[i] = min(best[i], time.process_time() - start)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures what Python costs.")
    parser.add_argument(
        "scene", nargs="?", default=SOURCE / "assets" / "scenes" / "box_slide.toml", type=Path
    )
    parser.add_argument("--repeat", default=21, type=int)
    options = parser.parse_args()

    scene = abut.load(options.scene)
    simulator = scene.simulator(["body.box.friction"] if "box" in scene.body_names else [])
    worlds, steps, bodies = 64, 100, len(scene.body_names)
    values = np.full((worlds, len(simulator.parameters)), 0.3)
    controls = np.zeros((worlds, steps, bodies, 6))

    def in_python() -> None:
        run = simulator.rollout(steps, values=values, controls=controls, threads=1, record=False)
        assert run.position.shape == (worlds, steps + 1, bodies, 3)

    def native() -> None:
        _abut.rollout(
            simulator._native,
            worlds,
            steps,
            values,
            controls,
            [None] * 6,
            1,
            False,
            0,
            None,
        )

    whole, inside = seconds([in_python, native], options.repeat)
    print(f"rollout of {steps} steps x {worlds} worlds, one thread")
    print(f"  module  {1e3 * inside:8.3f} ms")
    print(f"  Python  {1e3 * whole:8.3f} ms, {100.0 * (whole / inside - 1.0):+.2f} %")

    state = simulator.state()
    wrench = np.zeros((bodies, 6))
    count = 2000

    def steps_in_python() -> None:
        for _ in range(count):
            simulator.step(state, wrench)

    environment = simulator.batch(1, threads=1)

    def steps_of_environment() -> None:
        for _ in range(count):
            environment.step(wrench)

    def steps_of_rollout() -> None:
        simulator.rollout(count, record=False, threads=1)

    works = [steps_of_rollout, steps_in_python, steps_of_environment]
    of_rollout, of_step, of_environment = (1e6 * t / count for t in seconds(works, 7))
    print("one step of one world")
    print(f"  in a rollout   {of_rollout:8.2f} us")
    print(f"  step()         {of_step:8.2f} us, {of_step - of_rollout:+.2f} us a call")
    print(
        f"  Environment    {of_environment:8.2f} us, {of_environment - of_rollout:+.2f} us a call"
    )


if __name__ == "__main__":
    main()
