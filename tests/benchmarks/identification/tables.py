#!/usr/bin/env python3
"""Prints tables of docs/identification.md, from what `abut identify` and `abut optimize` say as JSON:

    tests/benchmarks/identification/tables.py build/release/bin/abut TABLE [--repeat N]

Tables: parameters, noise (both by --repeat), goals, gradients.
"""

import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path

EXPERIMENTS = Path("assets/experiments")
WITH_TRUTH = ("box_friction", "sphere_bounce", "sphere_bounce_weightless", "tumbling_box", "tumbling_spot",
              "shape_from_motion", "shape_from_points", "shape_from_points_weightless", "spot_on_pole",
              "arm_from_encoders")
GOALS = ("drill_push", "swing_up", "throw_through_gap", "contact_pose")


def run(abut, verb, path, *arguments):
    """What `abut VERB` says of an experiment; a search that misses its goal (exit code 1) says so in it."""
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([abut, verb, path, "--json", "--quiet", "--out", out, *arguments], check=False,
                              stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"tables.py: abut {verb} {path} ended with {done.returncode}")
    return json.loads(done.stdout)


def experiment(name):
    return str(EXPERIMENTS / f"{name}.toml")


def print_table(header, rows):
    for row in (header, ["---"] * len(header), *rows):
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)


def group_of(name):
    """Components of one vector, of all motions, stand in one row: semi-axes, exponents, ..."""
    name = re.sub(r" \(.*\)$", "", name)                               # (motion): of each motion
    name = re.sub(r"\.primitive\.\d+", "", name.removeprefix("body."))
    name = re.sub(r"\.inertia\.log_[xyz]$", ".inertia, extents", name)
    name = re.sub(r"\.inertia\.[xyz]{2}$", ".inertia, products", name)
    return re.sub(r"\.[xyz12]$", "", name)


def inside(told):
    """Per cent of the true values that lie in their own 95 % interval."""
    if not told:
        return "-"
    return f"{100 * sum(row['inside_95'] for row in told) / sum(row['told'] for row in told):.0f}"


def print_parameters(abut, repeat):
    rows = []
    for name in WITH_TRUTH:
        report = run(abut, "identify", experiment(name), "--repeat", str(repeat))
        groups = {}
        for row in report["unknowns"]:
            groups.setdefault(group_of(row["name"]), []).append(row)
        for group, members in groups.items():
            told = [m for m in members if m["told"]]
            rows.append([f"`{name}`", group, members[0]["unit"] or "-", len(members),
                         f"{max(m['initial_error'] for m in members):.2g}",
                         f"{sum(m['mean_error'] for m in members) / len(members):.1e}",
                         f"{max(m['largest_error'] for m in members):.1e}",
                         f"{sum(m['deviation'] for m in told) / len(told):.1e}" if told else "not told",
                         inside(told)])
    print_table(["experiment", "unknown", "unit", "numbers", "guess off by", "mean error", "largest",
                 "stated deviation", "inside [%]"], rows)


def print_noise(abut, repeat):
    cases = [("as stated", (), "square", "stated"), ("as stated", (), "square", "residuals"),
             ("noise × 3", ("--noise-factor", "3"), "square", "stated"),
             ("noise × 3", ("--noise-factor", "3"), "square", "residuals"),
             ("5 % outliers", ("--outliers", "0.05"), "square", "stated"),
             ("5 % outliers", ("--outliers", "0.05"), "cauchy", "stated"),
             ("5 % outliers", ("--outliers", "0.05"), "cauchy", "residuals")]
    rows = []
    for data, flaws, loss, intervals in cases:
        row = [data, loss, intervals]
        for name in ("tumbling_box", "shape_from_points", "sphere_bounce"):
            copy = EXPERIMENTS / f".{name}_{loss}_{intervals}.toml"       # beside the original: paths are relative
            text = Path(experiment(name)).read_text(encoding="utf-8")
            settings = f'loss = "{loss}"\nintervals = "{intervals}"\n'
            if "[search]" in text:
                text = re.sub(r"^(loss|intervals) *=.*\n", "", text, flags=re.MULTILINE).replace(
                    "[search]\n", "[search]\n" + settings)
            else:
                text += "\n[search]\n" + settings
            try:
                copy.write_text(text, encoding="utf-8")
                unknowns = run(abut, "identify", str(copy), "--repeat", str(repeat), *flaws)["unknowns"]
            finally:
                copy.unlink(missing_ok=True)
            told = [u for u in unknowns if u["told"]]
            row += [f"{unknowns[0]['mean_error']:.1e}", inside(told)]
        rows.append(row)
    print_table(["data", "loss", "intervals", "`tumbling_box`: error", "inside [%]", "`shape_from_points`: error [m]",
                 "inside [%]", "`sphere_bounce`: error [m]", "inside [%]"], rows)


def print_goals(abut, _):
    rows = []
    for name in GOALS:
        report = run(abut, "optimize", experiment(name))
        best = next(start for start in report["starts"] if start["is_best"])
        rows.append([f"`{name}`", report["unknowns"], len(report["starts"]), f"{best['initial_cost']:.2g}",
                     f"{best['cost']:.2g}", best["iterations"], best["status"]])
    print_table(["experiment", "unknowns", "starts", "loss at the best start", "at its end", "iterations", "status"],
                rows)


def print_gradients(abut, _):
    rows = []
    for name in WITH_TRUTH + GOALS:
        verb = "optimize" if name in GOALS else "identify"
        report = run(abut, verb, experiment(name), "--gradcheck")
        rows.append([f"`{name}`", report["samples"], f"{report['median_relative_error']:.1e}",
                     f"{report['max_relative_error']:.1e}"])
    print_table(["experiment", "derivatives", "median relative error", "largest"], rows)


def main():
    tables = {"parameters": print_parameters, "noise": print_noise, "goals": print_goals,
              "gradients": print_gradients}
    parser = argparse.ArgumentParser(description="Prints tables of docs/identification.md, at the root of the sources.")
    parser.add_argument("abut", help="path of the program abut")
    parser.add_argument("table", choices=tables)
    parser.add_argument("--repeat", type=int, default=100, help="repetitions of each experiment (default: %(default)s)")
    options = parser.parse_args()
    tables[options.table](options.abut, options.repeat)


if __name__ == "__main__":
    main()
