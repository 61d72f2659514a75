#!/usr/bin/env bash
# Installs what Abut needs and is missing, from Debian's own packages. Asks apt only where something is missing.
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config
  libeigen3-dev libspdlog-dev                                      # everywhere
  libassimp-dev zlib1g-dev libtomlplusplus-dev                     # engine: meshes, archives of arrays, scenes
  libqhull-dev                                                     # engine: convex hulls
  libcli11-dev nlohmann-json3-dev libstb-dev libceres-dev          # apps: command line, JSON, pictures, least squares
  libepoxy-dev libegl1 libgl1-mesa-dri                             # apps/render: OpenGL, with and without a display
  libimgui-dev libglfw3-dev fonts-dejavu-core                      # apps/viewer: panels, windows, letters
  python3-dev pybind11-dev python3-numpy                           # python: the package abut
  python3-pytest mypy                                              # its tests, and the check of its stubs
  catch2 xvfb python3                                              # tests (and Ceres' Jet); commands of the pages
  libbenchmark-dev libfcl-dev                                      # tests/benchmarks; distances of convex shapes to compare
)
optional=(
  gnuplot-nox                                                      # pictures of abut_paper000 for the documentation
  clang libclang-rt-14-dev                                         # make fuzz: libFuzzer and its sanitizers
)
[[ ${1:-} == --with-optional ]] && packages+=("${optional[@]}")

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "Not a Debian system: please install the equivalents of these packages: ${packages[*]}" >&2
  exit 0                                                           # CMake names whatever is missing
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

if [[ $EUID -eq 0 ]]; then
  as_root=(env DEBIAN_FRONTEND=noninteractive)
elif command -v sudo >/dev/null; then
  as_root=(sudo env DEBIAN_FRONTEND=noninteractive)
else
  echo "Missing packages: ${missing[*]}" >&2
  echo "Installing them needs root or sudo. As root, run: apt-get install ${missing[*]}" >&2
  exit 1
fi

echo "Installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null
