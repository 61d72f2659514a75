#!/usr/bin/env bash
# Draws the pictures of docs/viewer.md and of README.md's drop, and out/armadillo_drop.mp4, without a display:
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
  local copy=$copies/without_edges.toml
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

draw window $scenes/armadillo_drop.toml --steps 100 --open scene,gradients --show forces --hide normals --loss z:upper \
  --gradient-steps 60 --camera 0.499,0.629,0.353,0,0,0.105
draw inspector $scenes/armadillo_drop.toml --steps 480 --open scene,inspector,contacts --show forces --hide normals \
  --select lower
draw activity $scenes/armadillo_armadillo.toml --hide panels --show translucent --glyph-size 1.3 --width 960 --height 540
draw box_unscaled $scenes/box_on_box.toml --hide panels,scaling --show translucent --width 640 --height 480 \
  --camera 0.251,0.316,0.232,0,0,0.085
draw box_scaled $scenes/box_on_box.toml --hide panels --show translucent --width 640 --height 480 \
  --camera 0.251,0.316,0.232,0,0,0.085
draw slice $scenes/armadillo_drop.toml --steps 140 --hide panels,points,normals --show slice,translucent \
  --slice-azimuth 1.2
draw gradient $scenes/drill_mustard.toml --steps 100 --open gradients --loss "z:power drill" --gradient-steps 60
draw forces $scenes/gripper.toml --steps 400 --hide panels,normals --show forces --width 720 --height 405 \
  --camera 0.373,0.654,0.403,0.08,0,0.22
draw lens $scenes/drill_mustard.toml --steps 300 --hide panels,normals --show forces,lens,tables --pin 1 \
  --width 960 --height 540 --camera 0.231,0.563,0.263,0.02,0.02,0.05
draw cones $scenes/box_slide.toml --steps 100 --hide panels,normals --show cones,forces --forces-of contact \
  --width 720 --height 405 --camera 0.322,0.358,0.139,0.14,0,0.015
draw pressure $scenes/box_slide.toml --steps 100 --hide panels,normals,points --show pressure,translucent \
  --width 720 --height 405 --camera 0.322,0.358,0.139,0.14,0,0.015
draw side_by_side $scenes/armadillo_armadillo.toml --hide panels --show side-by-side,translucent --width 960 --height 400 \
  --camera 0.161,0.292,0.163,-0.035,0.045,0.065
draw edges $scenes/drill_mustard.toml --ghosts "$(without_edges $scenes/drill_mustard.toml)" --steps 300 \
  --hide panels,points,normals --width 720 --height 405 --camera 0.558,-0.195,0.206,0.09,0.06,0.07
draw candidates "$(selecting_edges $scenes/armadillo_armadillo.toml 12)" --hide panels,points,normals \
  --show candidates,translucent --width 960 --height 540 --camera 0.148,0.27,0.154,-0.03,0.045,0.065
draw discrepancy $scenes/spot_on_pole.toml --hide panels,points,normals --show discrepancy --width 960 --height 540 \
  --camera 0.522,0.655,0.429,0.01,0.01,0.262
draw experiment assets/experiments/sphere_bounce.toml --steps 150 --open gradients
XDG_CACHE_HOME=$copies draw files $scenes/gripper.toml --open files --frames 30

longer_drop() {                                                      # two_armadillos from higher up, in short steps
  local copy=$copies/longer_drop.toml
  sed -e 's|"\.\./bodies|"../../bodies|' -e 's|0\.03, 0\.42\]|0.03, 0.5]|' -e 's|^time_step = .*|time_step = 0.0005|' \
    -e 's|^steps = .*|steps = 2000|' $scenes/two_armadillos.toml > "$copy"
  echo "$copy"
}

# Slow motion, slower still at the impact; 20 seconds. It is too large to be kept with the pictures. Parts follow each
# other: 30 pictures are SPEED seconds, of 2,000 steps each.
video() {                                                            # lines of SPEED FIRST_STEP PICTURES
  local out=out/armadillo_drop.mp4 part=0 speed first frames scene
  command -v ffmpeg > /dev/null || { echo "no ffmpeg: no $out"; return 0; }
  mkdir -p out
  scene=$(longer_drop)
  while read -r speed first frames; do
    "$view" "$scene" --headless --hide panels,normals,points --show forces --camera 0.51,-0.93,0.59,0.04,0,0.25 \
      --steps "$first" --speed "$speed" --frames "$frames" --video "$copies/part_$part.mp4" > /dev/null
    echo "file 'part_$part.mp4'" >> "$copies/parts.txt"
    part=$((part + 1))
  done <<< "$1"
  ffmpeg -y -loglevel error -f concat -i "$copies/parts.txt" -c copy "$out"
  echo "$out"
}

abut=$(dirname "$view")/abut
"$abut" run $scenes/armadillo_drop.toml --quiet --out "$copies/drop.npz" > /dev/null
for step in 0 75 150 250; do
  "$abut" snapshot $scenes/armadillo_drop.toml --trajectory "$copies/drop.npz" --frame $step --width 400 --height 340 \
    --camera-from 0.36,-0.88,0.58 --camera-to 0.02,0,0.18 --out "docs/pictures/armadillo_drop_$step.png"
  echo "docs/pictures/armadillo_drop_$step.png"
done

video "0.09 0 54
0.015 324 300
0.045 624 246"
