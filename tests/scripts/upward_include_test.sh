#!/usr/bin/env bash
# The build itself enforces the import rule: upward_include_test.sh <folder of Layers.cmake>
set -eu
source_folder=$(dirname "$(readlink -f "$0")")/upward_include
build_folder=$(mktemp -d)
trap 'rm -rf "$build_folder"' EXIT

cmake -S "$source_folder" -B "$build_folder" -G Ninja "-DLAYERS_FILE=$1/Layers.cmake" >/dev/null
ninja -C "$build_folder" >/dev/null || { echo "a downward include does not compile"; exit 1; }

cmake "$build_folder" -DUPWARD=ON >/dev/null
if output=$(ninja -C "$build_folder" 2>&1); then
  echo "an upward include compiles"
  exit 1
fi
grep -q "upper/upper.hpp: No such file" <<<"$output" || { echo "$output"; exit 1; }
