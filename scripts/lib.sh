# Shell functions that zbphw, test and the scripts share. Sourced by bash, with the repository root as the current
# directory. They print to standard error only: standard output belongs to the program's results.

say() { printf 'zbphw: %s\n' "$*" >&2; }

# fail <exit code> <message>
fail() {
  local code=$1
  shift
  say "error: $*"
  exit "$code"
}

# CPUs that this process may use. nproc alone would answer OMP_NUM_THREADS.
allowed_cpus() { env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc; }

# The names in a package list, comments taken off.
packages_in() { sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$@"; }

# run_logged <what is happening> <log file> <command...>: output goes to the log; a terminal shows its latest line.
# Returns the command's status, and shows the end of the log when that is not 0.
run_logged() {
  local what=$1 log=$2 status
  shift 2
  if [ -t 2 ]; then
    "$@" 2>&1 | tee "$log" | awk -v what="zbphw: $what" \
      '{ printf "\r\033[K%s: %s", what, substr($0, 1, 90 - length(what)); fflush() } END { printf "\r\033[K" }' >&2
    status=${PIPESTATUS[0]}
  else
    say "$what (output in $log)"
    "$@" >"$log" 2>&1
    status=$?
  fi
  [ "$status" -eq 0 ] && return 0
  say "$what failed; the end of $log:"
  tail -n 40 "$log" >&2
  return "$status"
}

# install_packages <package list...>: installs what is missing, as root or with sudo. Exits with 2, and the line to run,
# where neither is possible.
install_packages() {
  local wanted installed missing
  wanted=$(packages_in "$@" | sort -u)
  command -v dpkg-query >/dev/null || fail 2 "this is not Debian; zbphw needs there what these packages hold: ${wanted//$'\n'/ }"
  # shellcheck disable=SC2086  # one argument a package
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | sed -n 's/^installed //p' | sort -u)
  missing=$(comm -23 <(printf '%s\n' "$wanted") <(printf '%s\n' "$installed") | tr '\n' ' ')
  missing=${missing% }
  [ -n "$missing" ] || return 0

  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [ -t 0 ] && [ -t 2 ]; }; }; then
      as_root=(sudo)
    else
      fail 2 "Debian packages are missing; as root, run: apt-get update && apt-get install -y --no-install-recommends $missing"
    fi
  fi
  say "installing Debian packages: $missing"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300)
  # An update that fails (no network, a stale source) need not stop an install from what is already known.
  run_logged "updating the package lists" build/packages.log "${apt[@]}" update || true
  # Slim images keep documentation out, and the default training text is one.
  apt+=(-o 'DPkg::Options::=--path-include=/usr/share/doc/jargon-text/*')
  # shellcheck disable=SC2086
  run_logged "installing packages" build/packages.log "${apt[@]}" install -y --no-install-recommends $missing ||
    fail 2 "packages cannot be installed; as root, run: apt-get update && apt-get install -y --no-install-recommends $missing"
}

# build_preset <preset> <tests: ON or OFF> <target...>: configures where that is needed, and builds. A build folder that
# has tests keeps them. One process at a time.
build_preset() {
  local preset=$1 tests=$2 folder=build/$1
  shift 2
  mkdir -p "$folder" || fail 1 "the folder $folder cannot be made"
  (
    flock 9
    local cache=$folder/CMakeCache.txt
    if [ ! -e "$folder/build.ninja" ] || ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
      run_logged "configuring" "$folder/configure.log" cmake --fresh --preset "$preset" "-DZBPHW_TESTS=$tests" || exit 1
    elif [ "$tests" = ON ] && ! grep -qx 'ZBPHW_TESTS:[A-Z]*=ON' "$cache"; then
      run_logged "configuring" "$folder/configure.log" cmake --preset "$preset" -DZBPHW_TESTS=ON || exit 1
    fi
    run_logged "building" "$folder/build.log" ninja -C "$folder" -j "$(allowed_cpus)" "$@" || exit 1
  ) 9>"$folder/.lock" || exit 1
}
