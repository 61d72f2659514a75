#!/usr/bin/env bash
# Draws the pictures of docs/viewer.md and of README.md's drop, without a display:
# docs/make_viewer_pictures.sh build/release/bin/abut-view          (abut is beside it)
set -euo pipefail

view=$(realpath "${1:?path of abut-view}")
cd "$(dirname "$0")/.."
scenes=assets/scenes
pictures=docs/pictures/viewer
mkdir -p "$pictures"
copies=$(mktemp -d -p assets/scenes .without_edges.XXXXXX)          # beside the scenes: they name bodies by relative paths
trap 'rm -rf "$copies"' EXIT

draw() {                                                             # NAME SCENE OPTION...
  local name=$1 scene=$2
  shift 2
  "$view" "$scene" --headless --paused --screenshot "$pictures/$name.png" "$@"
  echo "$pictures/$name.png"
}

without_edges() {                                                    # SCENE -> the same without contacts of edges
  local copy=$copies/$(basename "$1")
  sed -e 's|"\.\./bodies|"../../bodies|' "$1" > "$copy"
  printf '\n[simulation.contact]\nedge_edge = false\n' > "$copy.contact"
  # [simulation.contact] follows the keys of [simulation].
  awk -v extra="$copy.contact" '
    /^\[\[/ && !done { while ((getline line < extra) > 0) print line; print ""; done = 1 }
    { print }' "$copy" > "$copy.new"
  mv "$copy.new" "$copy"
  echo "$copy"
}

selecting_edges() {                                                  # SCENE K -> the same with K selected edges of each body
  local copy=$copies/selecting_$(basename "$1")
  sed -e 's|"\.\./bodies|"../../bodies|' -e "/^asset = /a selected_edges = $2" "$1" > "$copy"
  echo "$copy"
}

draw window $scenes/armadillo_drop.toml --steps 480 --open simulation,geometry,contacts --show translucent,forces
draw activity $scenes/armadillo_armadillo.toml --hide panels --show translucent --glyph-size 1.3
draw box_unscaled $scenes/box_on_box.toml --hide panels,scaling --show translucent --width 640 --height 480
draw box_scaled $scenes/box_on_box.toml --hide panels --show translucent --width 640 --height 480
draw slice $scenes/armadillo_drop.toml --steps 140 --hide panels,points,normals --show slice,translucent \
  --slice-azimuth 1.2
draw gradient $scenes/drill_mustard.toml --steps 100 --hide panels --loss "z:power drill" --gradient-steps 60 \
  --show translucent
draw forces $scenes/gripper.toml --steps 400 --hide panels,normals --show forces,discs,translucent --glyph-size 2 \
  --width 720 --height 405
draw candidates "$(selecting_edges $scenes/armadillo_armadillo.toml 12)" --hide panels,points,normals \
  --show candidates,translucent
draw discrepancy $scenes/spot_on_pole.toml --hide panels,points,normals --show discrepancy --select spot

compare() {                                                          # SCENE CAMERA STEP...
  local scene=$1 camera=$2 without
  shift 2
  without=$(without_edges $scenes/$scene.toml)
  for step in "$@"; do
    look=(--steps "$step" --hide panels --show translucent --width 320 --height 240 --text-scale 0.8 --glyph-size 1.5
          --camera "$camera")
    draw "${scene}_with_$step" $scenes/$scene.toml "${look[@]}"
    draw "${scene}_without_$step" "$without" "${look[@]}"
  done
}

compare armadillo_armadillo 0.36,0.46,0.29,0,0,0.07 0 20 40 80
compare drill_mustard 0.53,0.63,0.41,0.02,0,0.13 100 150 200 300

abut=$(dirname "$view")/abut
"$abut" run $scenes/armadillo_drop.toml --quiet --out "$copies/drop.npz" > /dev/null
for step in 0 75 150 250; do
  "$abut" snapshot $scenes/armadillo_drop.toml --trajectory "$copies/drop.npz" --frame $step --width 400 --height 340 \
    --camera-from 0.36,-0.88,0.58 --camera-to 0.02,0,0.18 --out "docs/pictures/armadillo_drop_$step.png"
  echo "docs/pictures/armadillo_drop_$step.png"
done
