#!/usr/bin/env bash
# Makes every body of assets/bodies again, with the program `abut`.
#
#   ABUT           the program [build/release/bin/abut]
#   ABUT_DATA_DIR  folder with reference_fits/*.json, for the last four [../shared/data beside the checkout]; without it
#                  only the simple bodies are made
#   OUT            folder to write to [assets/bodies]
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
  "$abut" mesh --body "$shapes/$1.toml" --out "$out/$1"
}
simple sphere  1000 'kind = "sphere"\nradius = 0.05'
simple box      700 'kind = "rounded_box"\nhalf_extents = [0.05, 0.05, 0.05]\nedge_radius = 0.002'
simple capsule 1000 'kind = "capsule"\nradius = 0.03\nhalf_length = 0.06'
simple plate    700 'kind = "rounded_box"\nhalf_extents = [0.1, 0.1, 0.01]\nedge_radius = 0.001'

# Smooth unions of superquadrics: collision meshes on their zero sets.
if [[ ! -d $data/reference_fits ]]; then
  echo "no $data/reference_fits: armadillo, power_drill, mustard_bottle and spot are left as they are" >&2
  exit 0
fi
fitted() {  # name, further options
  "$abut" mesh --fit "$data/reference_fits/$1.json" --out "$out/$1" "${@:2}"
}
fitted armadillo      --size 0.25 --vertices 305 --density 1000
fitted power_drill                --vertices 350 --density 1000
fitted mustard_bottle             --vertices 350 --density 960
fitted spot           --size 0.25 --vertices 350 --density 600
