#!/usr/bin/env python3
"""Cost of compiling a user's program: the C++ of README.md against a program that includes only Eigen/Dense.

    python3 tests/benchmarks/compile_time.py [--repeat N] [--compiler CXX] [--header HEADER ...]

Each program is compiled with the flags that cmake/AbutTargets.cmake exports, N times in turn. Prints the least time of
the processor (user and system), the peak memory, both relative to Eigen/Dense, and how many headers of ours each reads.
--header adds a program that includes only that header, such as dynamics/rollout_env.h.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path += [str(SOURCE / "tests/docs"), str(SOURCE / "tests/layers")]

from includes import reached_headers  # noqa: E402
from snippets import source_of  # noqa: E402

FLAGS = ["-std=c++20", "-O2", "-march=x86-64", "-ffp-contract=off", "-fno-math-errno", "-fPIC",
         "-fno-semantic-interposition", "-w", "-DEIGEN_MAX_ALIGN_BYTES=16", f"-I{SOURCE}", "-isystem", "/usr/include/eigen3"]


def compile_once(compiler, source, folder):
    """(seconds of the processor, peak memory in MB) of one compilation."""
    process = os.spawnvp(os.P_NOWAIT, compiler, [compiler, *FLAGS, "-c", str(source), "-o", str(folder / "program.o")])
    _, status, usage = os.wait4(process, 0)
    if status != 0:
        sys.exit(f"{compiler} failed on {source}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    parser.add_argument("--header", action="append", default=[])
    arguments = parser.parse_args()

    readme = (SOURCE / "README.md").read_text(encoding="utf-8")
    programs = {"Eigen/Dense": "#include <Eigen/Dense>\n", "README.md": source_of("README.md", readme)}
    programs |= {header: f'#include "{header}"\n' for header in arguments.header}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        costs = {program: [] for program in programs}
        for _ in range(arguments.repeat):
            for program, text in programs.items():
                source = folder / "program.cpp"
                source.write_text(text, encoding="utf-8")
                costs[program].append(compile_once(arguments.compiler, source, folder))
    least = {program: [min(column) for column in zip(*runs)] for program, runs in costs.items()}
    base = least["Eigen/Dense"]
    print(f'| {"program":28} | time [s] | ratio | memory [MB] | ratio | our headers |')
    print(f'| {"-" * 28} | -------: | ----: | ----------: | ----: | ----------: |')
    for program, (time, memory) in least.items():
        headers = len(reached_headers(SOURCE, programs[program]))
        print(f"| {program:28} | {time:8.2f} | {time / base[0]:5.2f} | {memory:11.0f} | {memory / base[1]:5.2f} | {headers:11} |")


if __name__ == "__main__":
    main()
