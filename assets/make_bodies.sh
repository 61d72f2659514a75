#!/usr/bin/env bash
# Makes every body of assets/bodies again, with the program `abut`.
#
#   ABUT           the program [build/release/bin/abut]
#   ABUT_DATA_DIR  folder with the meshes of the last four, armadillo.obj, power_drill.obj, mustard_bottle.obj and
#                  spot.obj [../shared/data beside the checkout]; without it only the simple bodies are made
#   OUT            folder to write to [assets/bodies]
#   REPORTS        folder for the reports of the last four, NAME.json [none are written]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
abut=${ABUT:-$root/build/release/bin/abut}
data=${ABUT_DATA_DIR:-$root/../shared/data}
out=${OUT:-$root/assets/bodies}
mkdir -p "$out"

# One primitive each: regular meshes, closed forms for the mass.
shapes=$(mktemp -d)
trap 'rm -rf "$shapes"' EXIT
simple() {  # name, density [kg/m^3], keys of the primitive
  printf 'name = "%s"\ndensity = %s\n[[primitive]]\n%b\n' "$1" "$2" "$3" > "$shapes/$1.toml"
  "$abut" fit "$shapes/$1.toml" -o "$out/$1"
}
simple sphere  1000 'kind = "sphere"\nradius = 0.05'
simple box      700 'kind = "rounded_box"\nhalf_extents = [0.05, 0.05, 0.05]\nedge_radius = 0.002'
simple capsule 1000 'kind = "capsule"\nradius = 0.03\nhalf_length = 0.06'
simple plate    700 'kind = "rounded_box"\nhalf_extents = [0.1, 0.1, 0.01]\nedge_radius = 0.001'

# One of each kind with planes, cuts or points: what the program computes anyway is written as 1.
meshed() {  # name, keys of the primitives, further options
  printf 'name = "%s"\nmass = 1\ncenter_of_mass = [0, 0, 0]\ninertia = [1, 1, 1, 0, 0, 0]\n' "$1" > "$shapes/$1.toml"
  printf '[contact]\npoints = []\n%b\n' "$2" >> "$shapes/$1.toml"
  "$abut" fit "$shapes/$1.toml" -o "$out/$1" "${@:3}"
}
# Twelve normals (0, +-1, +-phi) and their cyclic permutations, phi the golden ratio.
normals=$(awk 'BEGIN {
  phi = (1 + sqrt(5))/2; l = sqrt(1 + phi*phi)
  for (s = 1; s >= -1; s -= 2) for (t = 1; t >= -1; t -= 2) {
    a = s/l; b = t*phi/l
    printf "[0, %.17g, %.17g], [%.17g, %.17g, 0], [%.17g, 0, %.17g], ", a, b, a, b, b, a
  }}')
meshed dodecahedron "[[primitive]]\nkind = \"convex_polyhedron\"\nnormals = [$normals]
offsets = [0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05]" --density 2500 --vertices 162
meshed hex_nut '[[primitive]]\nkind = "extruded_superquadric"\nsemi_axes = [0.0205, 0.0205, 0.0095]
exponents = [0.1, 0.9]\nprofile_power = 50
angles = [0, 1.047197551196598, 2.094395102393195, 3.141592653589793, 4.188790204786391, 5.235987755982989]
offsets = [0.018, 0.018, 0.018, 0.018, 0.018, 0.018]
[[primitive]]\nkind = "superquadric"\noperation = "subtract"\nsemi_axes = [0.0107, 0.0107, 0.02]
exponents = [0.1, 0.9]' --density 7850 --vertices 240 --friction 0.2
meshed superquadric '[[primitive]]\nkind = "superquadric"\nsemi_axes = [0.06, 0.05, 0.045]
exponents = [0.9, 0.9]' --density 600 --vertices 200
# 32 rings of 14 points about a circle of radius 0.07 m, every other one turned by half a step.
torus=$(awk 'BEGIN {
  pi = atan2(0, -1)
  for (i = 0; i < 32; ++i) for (j = 0; j < 14; ++j) {
    a = 2*pi*i/32; b = 2*pi*(j + 0.5*(i%2))/14; x = cos(b)*cos(a); y = cos(b)*sin(a); z = sin(b)
    points = points sprintf("[%.9f, %.9f, %.9f], ", 0.07*cos(a) + 0.03*x, 0.07*sin(a) + 0.03*y, 0.03*z)
    normals = normals sprintf("[%.9f, %.9f, %.9f], ", x, y, z)
  }
  printf "points = [%s]\nnormals = [%s]\n", points, normals
}')
meshed ring "[[primitive]]\nkind = \"oriented_point_cloud\"\nwidth = 0.01\n$torus" --density 1000 --vertices 300

# Superquadrics fitted to meshes: collision meshes on the zero sets of their smooth unions and differences.
if [[ ! -f $data/armadillo.obj ]]; then
  echo "no $data/armadillo.obj: armadillo, power_drill, mustard_bottle and spot are left as they are" >&2
  exit 0
fi
fitted() {  # name, further options
  "$abut" fit "$data/$1.obj" -o "$out/$1" --method superquadrics --no-visual ${REPORTS:+--json "$REPORTS/$1.json"} "${@:2}"
}
# Resolutions other than the default, 128: with a finer one the bottle is fitted more closely. Of armadillos it is the
# mesh that matters: with others more drops on each other gain energy (docs/manifold.md).
fitted armadillo      --size 0.25 --max-primitives 19 --resolution 112 --vertices 305 --density 1000
fitted power_drill                --max-primitives 18 --vertices 350 --density 1000
fitted mustard_bottle             --max-primitives 15 --resolution 160 --vertices 350 --density 960
fitted spot           --size 0.25 --max-primitives 22 --vertices 350 --density 600
