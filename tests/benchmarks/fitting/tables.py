#!/usr/bin/env python3
"""Prints tables of docs/fitting.md, from what `abut fit` reports as JSON:

    tests/benchmarks/fitting/tables.py build/release/bin/abut TABLE [--meshes FOLDER] [--data FOLDER]

Tables: reference, million and bodies, of meshes of the reference data ($ABUT_DATA_DIR, or ../shared/data beside the
checkout), bodies being those that assets/make_bodies.sh makes; solids, boxes, mixed and walls, of what abut_fitting_meshes wrote. Fits run on one thread, each in a process of its own, whose
processor time and largest resident memory are those of the whole command.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

REFERENCE = (("armadillo", 19), ("armadillo", 39), ("power_drill", 18), ("spot", 22), ("mustard_bottle", 15), ("banana", 6))
ROOT = Path(__file__).resolve().parents[3]


def fit(abut, mesh, *options):
    """The report of a fit, with `cpu` [s] and `memory` [GiB]; a poor one (exit code 1) is reported like any other."""
    with tempfile.TemporaryDirectory() as out:
        report = Path(out) / "report.json"
        command = [abut, "fit", mesh, "-o", f"{out}/body", "--threads", "1", "--quiet", "--json", report, *options]
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1) or not report.exists():
            raise SystemExit(f"tables.py: {' '.join(map(str, command))} ended with {process.returncode}")
        result = json.loads(report.read_text())
    result["cpu"] = usage.ru_utime + usage.ru_stime
    result["memory"] = usage.ru_maxrss / 2**20
    return result


def print_table(rows):
    """The first row is the header; rows may take minutes to come."""
    for i, row in enumerate(rows):
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)
        if i == 0:
            print("|" + " --- |" * len(row), flush=True)


def counts(report):
    subtracted = report["fit"]["subtracted"]
    return f"{report['body']['primitives'] - subtracted} + {subtracted}"


def percent(x, digits=1):
    return f"{100 * x:.{digits}f}"


def fit_columns(report):
    """Of a table whose columns end with FIT_COLUMNS."""
    f, body = report["fit"], report["body"]
    distances = f["mesh_to_surface"]
    size = report["mesh"]["size"]
    return [f"{f['iou']:.3f}, {f['occupancy_iou']:.3f}", f"{100 * f['volume_error']:+.1f}",
            percent(f["center_of_mass_error"] / size, 2), percent(f["inertia_error"]),
            ", ".join(percent(distances[key] / size, 2) for key in ("mean", "percentile_95", "max")),
            f"{57.29578 * f['mean_normal_angle']:.0f}",
            f"{report['collision_mesh']['max_vertex_distance'] / size:.0e}", percent(body["bulge"] / size, 2)]


FIT_COLUMNS = ["IoU of points, cells", "volume [%]", "centre [%]", "inertia [%]", "mesh → surface: mean, 95 %, max [%]",
               "normals [°]", "vertices off", "bulge [%]"]


def reference(abut, given):
    yield ["mesh", "at most", "primitives", "of these exact", *FIT_COLUMNS, "CPU time [s]", "memory [GiB]"]
    for name, most in REFERENCE:
        report = fit(abut, given.data / f"{name}.obj", "--max-primitives", most)
        yield [f"{name}.obj", most, counts(report), report["fit"]["exact_kinds"], *fit_columns(report),
               f"{report['cpu']:.1f}", f"{report['memory']:.2f}"]


def divided(lines, times):
    """Vertices and triangles of an .obj file, each triangle divided into four so many times."""
    vertices = [tuple(map(float, line.split()[1:4])) for line in lines if line.startswith("v ")]
    triangles = [tuple(int(word.split("/")[0]) - 1 for word in line.split()[1:4]) for line in lines if line.startswith("f ")]
    for _ in range(times):
        middles, finer = {}, []

        def middle(a, b):
            edge = (min(a, b), max(a, b))
            if edge not in middles:
                middles[edge] = len(vertices)
                vertices.append(tuple(0.5 * (x + y) for x, y in zip(vertices[a], vertices[b])))
            return middles[edge]

        for a, b, c in triangles:
            ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
            finer += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        triangles = finer
    return vertices, triangles


def million(abut, given):
    yield ["triangles", "visual mesh", "IoU of cells", "CPU time [s]", "memory [GiB]"]
    with tempfile.TemporaryDirectory() as folder:
        mesh = Path(folder) / "armadillo_fine.obj"
        vertices, triangles = divided((given.data / "armadillo.obj").read_text().splitlines(), 2)
        with mesh.open("w") as file:
            file.writelines(f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in vertices)
            file.writelines(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in triangles)
        for options in ((), ("--no-visual",)):
            report = fit(abut, mesh, "--max-primitives", "19", *options)
            yield [report["mesh"]["triangles"], "no" if options else "yes", f"{report['fit']['occupancy_iou']:.3f}",
                   f"{report['cpu']:.1f}", f"{report['memory']:.2f}"]


def bodies(abut, given):
    yield ["body", "superquadrics", "IoU of points, cells", "volume", "centre", "inertia", "mesh → surface: mean, 95 %, max",
           "collision mesh → mesh: mean, 95 %"]
    with tempfile.TemporaryDirectory() as out:
        reports = Path(out) / "reports"
        reports.mkdir()
        subprocess.run([ROOT / "assets/make_bodies.sh"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**os.environ, "ABUT": str(Path(abut).resolve()), "OUT": out, "REPORTS": str(reports),
                            "ABUT_DATA_DIR": str(given.data)})
        for name in ("armadillo", "power_drill", "mustard_bottle", "spot"):
            report = json.loads((reports / f"{name}.json").read_text())
            f, size = report["fit"], report["mesh"]["size"]

            def part(key, names):
                return ", ".join(percent(f[key][name] / size, 2) for name in names) + " %"

            yield [name, counts(report), f"{f['iou']:.3f}, {f['occupancy_iou']:.3f}", f"{100 * f['volume_error']:+.1f} %",
                   percent(f["center_of_mass_error"] / size, 2) + " %", percent(f["inertia_error"]) + " %",
                   part("mesh_to_surface", ("mean", "percentile_95", "max")), part("collision_mesh_to_mesh", ("mean", "percentile_95"))]


def meshes_in(folder):
    found = sorted(folder.glob("*.obj"))
    if not found:
        raise SystemExit(f"tables.py: no meshes in {folder}: abut_fitting_meshes writes them")
    return found


def quality(report):
    return [f"{report['fit']['occupancy_iou']:.3f}", f"{100 * report['fit']['volume_error']:+.1f}"]


def planes_of(report):
    return f"{report['body']['primitives']}, {report['fit']['planes']}"


def solids(abut, given):
    yield ["solid", "superquadrics", "IoU", "volume [%]", "parts, planes", "IoU", "volume [%]", "auto", "method", "exact",
           "IoU", "volume [%]"]
    for mesh in meshes_in(given.meshes / "solids"):
        row = [mesh.stem]
        for method in ("superquadrics", "convex", "auto"):
            report = fit(abut, mesh, "--resolution", "64", "--no-visual", "--method", method)
            row += [planes_of(report) if method == "convex" else counts(report)]
            if method == "auto":
                row += [report["fit"]["method"], report["fit"]["exact_kinds"]]
            row += quality(report)
        yield row


def boxes(abut, given):
    yield ["mesh", "superquadrics", "IoU", "parts, planes", "IoU", "auto"]
    for mesh in meshes_in(given.meshes / "boxes"):
        row = [mesh.stem]
        for method in ("superquadrics", "convex"):
            report = fit(abut, mesh, "--no-visual", "--method", method)
            row += [planes_of(report) if method == "convex" else counts(report), f"{report['fit']['occupancy_iou']:.3f}"]
        yield row + [fit(abut, mesh, "--no-visual")["fit"]["method"]]


def mixed(abut, given):
    yield ["mesh", "superquadrics", "IoU", "parts, planes", "IoU", "auto: superquadrics", "exact", "polyhedra, planes", "IoU",
           "volume [%]"]
    for mesh in meshes_in(given.meshes / "mixed"):
        row = [mesh.stem]
        for method in ("superquadrics", "convex"):
            report = fit(abut, mesh, "--resolution", "64", "--no-visual", "--method", method)
            row += [planes_of(report) if method == "convex" else counts(report), f"{report['fit']['occupancy_iou']:.3f}"]
        report = fit(abut, mesh, "--resolution", "64", "--no-visual")
        f = report["fit"]
        yield row + [f["superquadrics"], f["exact_kinds"], f"{f['polyhedra']}, {f['planes']}", *quality(report)]


def area(mesh):
    vertices, triangles = divided(mesh.read_text().splitlines(), 0)
    total = 0.0
    for corners in triangles:
        a, b, c = (vertices[i] for i in corners)
        u, v = ([y - x for x, y in zip(a, other)] for other in (b, c))
        total += 0.5 * sum((u[i - 2] * v[i - 1] - u[i - 1] * v[i - 2]) ** 2 for i in range(3)) ** 0.5
    return total


def walls(abut, given):
    yield ["mesh", "surface within the solid [%]", "IoU of the cells", "mesh → surface, mean [%]"]
    for mesh in meshes_in(given.meshes / "walls"):
        report = fit(abut, mesh, "--no-visual")
        yield [mesh.stem, percent(report["mesh"]["inner_area"] / area(mesh), 0), f"{report['fit']['occupancy_iou']:.3f}",
               percent(report["fit"]["mesh_to_surface"]["mean"] / report["mesh"]["size"], 2)]


TABLES = {"reference": reference, "million": million, "bodies": bodies, "solids": solids, "boxes": boxes, "mixed": mixed, "walls": walls}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("abut", help="the program")
    options.add_argument("table", choices=TABLES)
    options.add_argument("--meshes", type=Path, default=Path("out/fitting_meshes"), help="of abut_fitting_meshes")
    options.add_argument("--data", type=Path, default=Path(os.environ.get("ABUT_DATA_DIR", ROOT.parent / "shared/data")))
    given = options.parse_args()
    print_table(TABLES[given.table](given.abut, given))


if __name__ == "__main__":
    main()
