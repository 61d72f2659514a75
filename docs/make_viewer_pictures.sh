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

draw window $scenes/armadillo_drop.toml --steps 100 --open scene,gradients --show forces --hide normals --loss z:upper \
  --gradient-steps 60
draw inspector $scenes/armadillo_drop.toml --steps 480 --open scene,inspector,contacts --show forces --hide normals \
  --select lower
draw activity $scenes/armadillo_armadillo.toml --hide panels --show translucent --glyph-size 1.3
draw box_unscaled $scenes/box_on_box.toml --hide panels,scaling --show translucent --width 640 --height 480
draw box_scaled $scenes/box_on_box.toml --hide panels --show translucent --width 640 --height 480
draw slice $scenes/armadillo_drop.toml --steps 140 --hide panels,points,normals --show slice,translucent \
  --slice-azimuth 1.2
draw gradient $scenes/drill_mustard.toml --steps 100 --open gradients --loss "z:power drill" --gradient-steps 60
draw forces $scenes/gripper.toml --steps 400 --hide panels,normals --show forces --width 720 --height 405
draw lens $scenes/drill_mustard.toml --steps 300 --hide panels,normals --show forces,lens,tables --pin 1 \
  --width 960 --height 540
draw cones $scenes/box_slide.toml --steps 100 --hide panels,normals --show cones,forces --forces-of contact \
  --width 720 --height 405
draw pressure $scenes/box_slide.toml --steps 100 --hide panels,normals,points --show pressure,translucent \
  --width 720 --height 405
draw candidates "$(selecting_edges $scenes/armadillo_armadillo.toml 12)" --hide panels,points,normals \
  --show candidates,translucent
draw discrepancy $scenes/spot_on_pole.toml --hide panels,points,normals --show discrepancy --select spot
draw experiment assets/experiments/sphere_bounce.toml --steps 150 --open gradients
XDG_CACHE_HOME=$copies draw files $scenes/gripper.toml --open files --frames 30

# Slow motion, slower still at the impact; 20 seconds. It is too large to be kept with the pictures.
video() {                                                            # lines of SPEED FIRST_STEP PICTURES
  local out=out/armadillo_drop.mp4 part=0 speed first frames
  command -v ffmpeg > /dev/null || { echo "no ffmpeg: no $out"; return 0; }
  mkdir -p out
  while read -r speed first frames; do
    "$view" $scenes/armadillo_drop.toml --headless --hide panels,normals,points --show forces \
      --camera 0.36,-0.88,0.58,0.02,0,0.18 --steps "$first" --speed "$speed" --frames "$frames" \
      --video "$copies/part_$part.mp4" > /dev/null
    echo "file 'part_$part.mp4'" >> "$copies/parts.txt"
    part=$((part + 1))
  done <<< "$1"
  ffmpeg -y -loglevel error -f concat -i "$copies/parts.txt" -c copy "$out"
  echo "$out"
}

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

video "0.1 0 96
0.05 80 288
0.166 200 216"
