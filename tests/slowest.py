#!/usr/bin/env python3
"""The slowest tests and translation units of a build folder, as two Markdown tables.

    tests/slowest.py build/release                   # seconds on the clock, of the last build and the last ctest
    tests/slowest.py build/release --measure         # runs every test again, and counts processor time
    tests/slowest.py build/release --measure -R '^dynamics/' --tests 20

Times of units are those of ninja's log, which has the last compilation of each. `--measure` runs one test at a time,
with the environment that ctest gives it; tests that fail are listed, and the exit code is 1. Exit code 2: the folder
has no log to read.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path


def times_of_units(build):
    """{output: seconds on the clock} of every object file that ninja compiled last."""
    times = {}
    for line in (build / ".ninja_log").read_text(encoding="utf-8").splitlines()[1:]:
        start, end, _, output, _ = line.split("\t")
        if output.endswith((".o", ".gch")):
            times[output] = (int(end) - int(start)) / 1000
    return times


def short_name(output):
    """tests/CMakeFiles/abut_test_apps.dir/Unity/unity_0_cxx.cxx.o -> abut_test_apps: Unity/unity_0"""
    match = re.search(r"CMakeFiles/([^/]+)\.dir/(.*?)(_cxx)?(\.cxx|\.cpp|\.hxx)*\.(o|gch)$", output)
    return f"{match[1]}: {match[2]}" if match else output


def times_of_last_run(build):
    """{test: seconds on the clock} of the last ctest."""
    times, name = {}, None
    for line in (build / "Testing/Temporary/LastTest.log").read_text(encoding="utf-8", errors="replace").splitlines():
        if match := re.match(r"\d+/\d+ Testing: (.*)$", line):
            name = match[1]
        elif (match := re.match(r"Test time = +([\d.]+) sec", line)) and name is not None:
            times[name] = float(match[1])
    return times


def tests_of(build, pattern, label):
    """The tests of a build folder that ctest would run, as it describes them."""
    command = ["ctest", "--test-dir", str(build), "--show-only=json-v1"]
    command += ["-R", pattern] if pattern else []
    command += ["-L", label] if label else []
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["tests"]


def run_test(test):
    """(processor seconds of the test and all that it starts, whether it ran without a failure)"""
    properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
    environment = dict(os.environ)
    environment |= dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
    skipped = properties.get("SKIP_RETURN_CODE")
    process = subprocess.Popen(test["command"], cwd=properties.get("WORKING_DIRECTORY"), env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    code = process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, code in (0, skipped)


def measured_times(tests):
    """({test: processor seconds}, names of those that failed)"""
    times, failed = {}, []
    for test in tests:
        times[test["name"]], passed = run_test(test)
        if not passed:
            failed.append(test["name"])
    return times, failed


def print_table(title, times, most, unit):
    """The entries that take longest, the share of the sum that each one and those above it have, and the sum."""
    total, reached = sum(times.values()), 0.0
    print(f"\n| {title} | {unit} | with those above |\n| --- | ---: | ---: |")
    for name, seconds in sorted(times.items(), key=lambda entry: -entry[1])[:most]:
        reached += seconds
        print(f"| {name} | {seconds:.1f} | {100 * reached / total if total else 0:.0f} % |")
    print(f"| all {len(times)} | {total:.0f} | 100 % |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, help="build folder, such as build/release")
    parser.add_argument("--measure", action="store_true", help="run the tests again and count their processor time")
    parser.add_argument("-R", dest="pattern", default="", help="with --measure: only tests whose names match")
    parser.add_argument("-L", dest="label", default="", help="with --measure: only tests with this label")
    parser.add_argument("--tests", type=int, default=50, help="rows of the table of tests")
    parser.add_argument("--units", type=int, default=30, help="rows of the table of translation units")
    arguments = parser.parse_args()
    failed = []
    try:
        units = times_of_units(arguments.build)
        if arguments.measure:
            start = time.monotonic()
            tests, failed = measured_times(tests_of(arguments.build, arguments.pattern, arguments.label))
            print(f"measured in {time.monotonic() - start:.0f} s")
        else:
            tests = times_of_last_run(arguments.build)
        if not tests:
            raise FileNotFoundError(0, "", "LastTest.log of a ctest that has ended")
    except FileNotFoundError as error:
        print(f"slowest.py: {error.filename}: no such file; build, and run ctest, first", file=sys.stderr)
        return 2
    print_table("translation unit", {short_name(name): seconds for name, seconds in units.items()}, arguments.units,
                "seconds on the clock")
    print_table("test", tests, arguments.tests, "processor seconds" if arguments.measure else "seconds on the clock")
    for name in failed:
        print(f"failed: {name}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
