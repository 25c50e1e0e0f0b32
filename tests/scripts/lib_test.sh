#!/usr/bin/env bash
# The shell functions of the launcher: lib_test.sh <repository root>
set -u
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" && mkdir build
. "$root/scripts/lib.sh"
failures=0
expect() { # <what> <expected> <got>
  [ "$2" = "$3" ] || { printf '%s\n  expected: %s\n  got: %s\n' "$1" "$2" "$3"; failures=1; }
}

printf '# comment\nalpha   # why\n\nbeta\n' >list
expect "comments and blanks are no packages" "alpha beta" "$(packages_in list | xargs)"

for list in "$root"/scripts/packages*.txt; do
  expect "each package of $list has a reason" "" "$(grep -vE '^#|^[a-z0-9.+-]+ +# .' "$list")"
done

expect "a command that works says nothing of its output" "zbphw: trying (output in log)" \
  "$(run_logged trying log echo hidden 2>&1)"
output=$(run_logged trying log sh -c 'echo the cause; exit 7' 2>&1)
expect "a failing command's status is kept" 7 $?
expect "a failing command's output is shown" "the cause" "$(tail -n 1 <<<"$output")"

echo "bash # present everywhere" >present
expect "nothing is said when nothing is missing" "" "$(install_packages present 2>&1)"

# Without root and without sudo: one line to run, exit 2, nothing on standard output.
echo "zbphw-no-such-package # never installed" >absent
mkdir tools && printf '#!/bin/sh\necho 1000\n' >tools/id && chmod +x tools/id
printf '#!/bin/sh\nexit 1\n' >tools/sudo && chmod +x tools/sudo
output=$(PATH=$work/tools:$PATH; install_packages absent present 2>errors </dev/null)
expect "missing packages without root exit with 2" 2 $?
expect "standard output stays clean" "" "$output"
expect "the one line to run" \
  "zbphw: error: Debian packages are missing; as root, run: apt-get update && apt-get install -y --no-install-recommends zbphw-no-such-package" \
  "$(cat errors)"
exit "$failures"
