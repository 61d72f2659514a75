#!/usr/bin/env bash
# Fuzzes: tests/fuzz/run.sh BIN [TARGET...]. Each target runs MINUTES (10) from the corpus of earlier runs,
# out/fuzz/<target>/corpus, the kept one, tests/fuzz/corpus/<target>, and the assets; JOBS (2) run at a time. At the end
# the kept corpus becomes a small set of inputs with the same coverage: what a find was mended with stays, under the
# name regression_*, and so do seed_*. Exit code 1 where a target found something: out/fuzz/<target>/crash-* and the like.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$1
shift
minutes=${MINUTES:-10} jobs=${JOBS:-2} timeout=${TIMEOUT:-60}
targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || targets=(obj ply stl gltf glb npz fit csv body scene batch car experiment trajectory)
out=out/fuzz
mkdir -p "$out"

# Every key and word that our readers know, and the punctuation of TOML.
{
  grep -ohE '"[A-Za-z_]{2,30}"' engine/*_io.cpp engine/config.cpp apps/abut/batch_table.cpp apps/abut/scene_parameter*.cpp \
    apps/abut/fit_reader.cpp apps/identification/*_io.cpp
  printf '"%s"\n' '[[' ']]' ' = ' '{' '}' 'inf' 'nan' '-' '.' '1e308' '\\x0a'
} | sort -u >"$out/words.dict"

seeds_of() {
  case $1 in
    obj) ls assets/bodies/{hex_nut,plate,box}/mesh.obj ;;
    body) ls assets/bodies/*/body.toml ;;
    scene) ls assets/scenes/*.toml ;;
    car) ls assets/experiments/car_*.toml ;;
    experiment) ls assets/experiments/*.toml ;;
    csv) ls assets/experiments/*/motion_0.csv ;;
  esac
}

fuzz() {
  local target=$1 folder=$out/$1 kept=tests/fuzz/corpus/$1
  mkdir -p "$folder/corpus" "$folder/tmp" "$kept"
  seeds_of "$target" | while read -r seed; do cp -n "$seed" "$folder/corpus/$(tr / _ <<<"$seed")"; done
  local options=(-timeout="$timeout" -rss_limit_mb=2048 -max_len=8192 -artifact_prefix="$folder/")
  local code=0
  TMPDIR=$folder/tmp "$bin/abut_fuzz_$target" "${options[@]}" -max_total_time=$((60 * minutes)) -print_final_stats=1 \
    -dict="$out/words.dict" "$folder/corpus" "$kept" >"$folder/log" 2>&1 || code=1
  rm -rf "$folder/minimised"
  mkdir "$folder/minimised"
  TMPDIR=$folder/tmp "$bin/abut_fuzz_$target" "${options[@]}" -max_len=2048 -merge=1 -use_counters=0 \
    "$folder/minimised" "$kept" "$folder/corpus" >"$folder/merge.log" 2>&1 || code=1
  if [[ -n $(ls "$folder/minimised") ]]; then
    find "$kept" -type f ! -name 'regression_*' ! -name 'seed_*' -delete
    cp "$folder"/minimised/* "$kept/"
  fi
  rm -rf "$folder/tmp"
  grep -hE 'stat::number_of_executed_units|^SUMMARY' "$folder/log" | sed "s/^/$target: /" || true
  tail -n 40 "$folder/log" | grep -oE 'cov: [0-9]+ ft: [0-9]+' | tail -n 1 | sed "s/^/$target: /" || true
  return $code
}

export -f fuzz seeds_of
export bin minutes timeout out
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I{} bash -c 'set -euo pipefail; fuzz {}'
