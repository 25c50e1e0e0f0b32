#!/usr/bin/env bash
# ./zbphw with stand-ins for cmake, ninja and the program: launcher_test.sh <repository root>
set -u
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0
expect() { # <what> <expected> <got>
  [ "$2" = "$3" ] || { printf '%s\n  expected: %s\n  got: %s\n' "$1" "$2" "$3"; failures=1; }
}

mkdir -p tree/{base,scripts} tools elsewhere
cp "$root/zbphw" tree/ && cp "$root/scripts/lib.sh" tree/scripts/
echo "bash # present everywhere" >tree/scripts/packages.txt
echo "int a;" >tree/base/a.cpp

# cmake configures, ninja makes a program that tells its arguments and folder and exits with 7; both note that they ran.
cat >tools/cmake <<'E2'
#!/bin/sh
echo cmake >>"$CALLS"
touch build/release/build.ninja
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >build/release/CMakeCache.txt
E2
cat >tools/ninja <<'E2'
#!/bin/sh
echo ninja >>"$CALLS"
[ -e "$BROKEN" ] && { echo "the compiler says no"; exit 1; }
mkdir -p build/release/experiments
printf '#!/bin/sh\necho "$@ in ${PWD##*/}"\nexit 7\n' >build/release/experiments/zbphw
chmod +x build/release/experiments/zbphw
E2
chmod +x tools/*
export CALLS=$work/calls BROKEN=$work/broken PATH=$work/tools:$PATH

start() { # runs the launcher from another folder; sets output, status, calls
  : >"$CALLS"
  output=$(cd elsewhere && ../tree/zbphw "$@" 2>"$work/errors")
  status=$?
  calls=$(xargs <"$CALLS")
}

start train --set "name=a b"
expect "the first start configures and builds" "cmake ninja" "$calls"
expect "the program gets its arguments and the user's folder; its output is all of standard output" \
  "train --set name=a b in elsewhere" "$output"
expect "the program's exit code" 7 "$status"

start again
expect "a later start does nothing but run the program" "" "$calls"
expect "and says nothing of its own" "" "$(cat errors)"
expect "and passes its output" "again in elsewhere" "$output"

echo "int b;" >tree/base/b.cpp
start
expect "a new source is built" "ninja" "$calls"
rm tree/base/b.cpp
start
expect "a removed source is noticed" "ninja" "$calls"

touch "$BROKEN" tree/base/a.cpp
start
expect "a failed build exits with 1" 1 "$status"
expect "does not run the old program" "" "$output"
expect "shows the end of the log" "the compiler says no" "$(tail -n 1 errors)"
rm "$BROKEN"
start
expect "and is tried again at the next start" "ninja" "$calls"
expect "which runs the program" 7 "$status"
exit "$failures"
