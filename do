#!/usr/bin/env bash
# The one entrance to this repository: `./do VERB`, see `./do help`.
#
# Each verb is a function `verb_NAME`. A verb first installs what is missing (Debian 12, as
# root; nothing is fetched when all packages are there), then builds what it needs. Results go
# to stdout; progress, times and failures to stderr. Long output goes to build/log/ and is
# shown only when the step fails.
#
# Build folders:  release   all of it, -O2 with assertions      (build, test, demo, install)
#                 core      without MLIR, -O3 and no assertions (bench, test --long)
#                 whole     without MLIR, as intermediate code  (test --long): the linker compares definitions
#                 sanitize  all of it with ASan and UBSan       (sanitize)
#                 fuzz      libFuzzer targets, ASan and UBSan   (fuzz)
set -euo pipefail

root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
cd "$root"
build=$root/build
logs=$build/log
jobs=$(nproc)
llvm=/usr/lib/llvm-22
prefix=/usr/local # where `install` puts things; the programs look for machines there, too

packages=(
  g++ cmake ninja-build
  libmlir-22-dev llvm-22-dev mlir-22-tools llvm-22-tools
  libfmt-dev nlohmann-json3-dev libisl-dev libcli11-dev zlib1g-dev
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev
  python3 python3-numpy python3-psutil
)

# For the pages of the gallery.
gallery_packages=(python3-markdown)

# For the package of python/ as a wheel.
wheel_packages=(python3 python3-pip python3-setuptools python3-wheel)

# A browser for the pages of `tally report`, what runs the extension for editors, and a shell to complete in.
test_packages=(chromium nodejs zsh)

# For the proof, and for the checker that is extracted from it.
proof_packages=(coq ocaml ocaml-findlib)

# ---- Messages and steps -------------------------------------------------------------------

say() { printf '%s\n' "$*" >&2; }

die() {
  say "error: $1"
  exit "${2:-1}"
}

# logged NAME COMMAND...: runs the command with its output in a log file; says how long it
# took, and shows the last $log_tail lines of the log if it fails.
log_tail=60
logged() {
  local name=$1 start=$SECONDS status=0
  local log=$logs/${name// /-}.log
  shift
  mkdir -p "$logs"
  say "== $name"
  "$@" 2>&1 </dev/null | progress "$log" || status=$?
  if ((status)); then
    say "== $name failed after $((SECONDS - start)) s; the end of $log:"
    tail -n "$log_tail" "$log" >&2
    return "$status"
  fi
  say "== $name: $((SECONDS - start)) s"
}

# Copies stdin to a log file; every ten seconds, says how far a build is.
progress() {
  local line last=$SECONDS
  : >"$1"
  while IFS= read -r line || [[ -n $line ]]; do
    printf '%s\n' "$line" >>"$1"
    if ((SECONDS - last >= 10)); then
      say "   ${line:0:100}"
      last=$SECONDS
    fi
  done
}

# ---- Packages -----------------------------------------------------------------------------

# Whether the package with this name is installed.
installed() {
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# need PACKAGE...: installs those that are missing, or says which they are and exits 2.
# TALLY_NO_INSTALL=1 skips the check, for systems whose packages have other names.
need() {
  local package missing=()
  [[ -z ${TALLY_NO_INSTALL:-} ]] || return 0
  for package in "$@"; do
    if ! command -v dpkg-query >/dev/null || ! installed "$package"; then
      missing+=("$package")
    fi
  done
  if ((${#missing[@]})); then
    refuse_unless_debian12 "${missing[@]}"
    install_packages "${missing[@]}"
  fi
}

refuse_unless_debian12() {
  local ID="" VERSION_ID="" PRETTY_NAME="an unknown system"
  if [[ -r /etc/os-release ]]; then
    # shellcheck source=/dev/null
    . /etc/os-release
  fi
  if [[ $ID != debian || $VERSION_ID != 12 ]]; then
    say "error: this is '$PRETTY_NAME'; packages are installed by themselves only on Debian 12"
    say "install what these packages of Debian 12 hold (MLIR and LLVM must be version 22):"
    say "  $*"
    say "and, if they have other names here, run again with TALLY_NO_INSTALL=1"
    exit 2
  fi
  if ((EUID != 0)); then
    say "error: packages are missing, and only root can install them; as root, run:"
    say "  apt-get update && apt-get install --no-install-recommends $*"
    exit 2
  fi
}

install_packages() {
  local -x DEBIAN_FRONTEND=noninteractive
  say "installing packages: $*"
  logged "apt update" apt-get update || die "'apt-get update' failed; is there a network?" 2
  refuse_without_llvm22 "$@"
  logged "apt install" apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" ||
    die "'apt-get install' failed" 2
}

# LLVM 22 is not in bookworm itself but in its security updates.
refuse_without_llvm22() {
  local package policy
  for package in "$@"; do
    policy=$(apt-cache policy "$package")
    if [[ $package == *-22* && ! $policy =~ Candidate:\ [0-9] ]]; then
      say "error: no enabled package source offers '$package'"
      say "LLVM 22 for Debian 12 comes with the security updates; enable them, then run this again:"
      say "  echo 'deb http://deb.debian.org/debian-security bookworm-security main' >/etc/apt/sources.list.d/security.list"
      exit 2
    fi
  done
}

# ---- Building -----------------------------------------------------------------------------

# configure TREE OPTION...: lld where it is installed, since it links four times as fast.
configure() {
  local tree=$1 flags=""
  shift
  if [[ -x $llvm/bin/ld.lld ]]; then
    flags="-B$llvm/bin -fuse-ld=lld"
  fi
  cmake -S "$root" -B "$build/$tree" -G Ninja \
    -DCMAKE_EXE_LINKER_FLAGS="$flags" -DCMAKE_SHARED_LINKER_FLAGS="$flags" \
    -DCMAKE_MODULE_LINKER_FLAGS="$flags" "$@"
}

# build_tree TREE [TARGET]: configures one of the build folders and builds it, or one target.
build_tree() {
  local tree=$1 target=${2:-all} options=()
  case $tree in
  # A compiler whose mistakes are silent corruption keeps its assertions.
  release) options=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O2
    -DCMAKE_INSTALL_PREFIX="$prefix") ;;
  core) options=(-DCMAKE_BUILD_TYPE=Release -DTALLY_ENABLE_MLIR=OFF) ;;
  whole) options=(-DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -flto -fno-fat-lto-objects"
    -DTALLY_ENABLE_MLIR=OFF -DTALLY_ENABLE_TESTS=OFF -DTALLY_ENABLE_BENCHMARKS=OFF) ;;
  sanitize) options=(-DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1" -DTALLY_SANITIZE=ON) ;;
  fuzz) options=(-DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1" -DTALLY_LIBFUZZER=ON
    -DCMAKE_CXX_COMPILER=clang++-22 -DTALLY_ENABLE_TESTS=OFF -DTALLY_ENABLE_BENCHMARKS=OFF) ;;
  esac
  logged "configure $tree" configure "$tree" "${options[@]}" &&
    logged "build $tree" cmake --build "$build/$tree" -j "$jobs" --target "$target"
}

verb_build() {
  need "${packages[@]}"
  build_tree release
}

verb_install() {
  [[ ${1:-} != -* ]] || die "install: expected a folder, found '$1'" 2
  prefix=$(realpath -m -- "${1:-$prefix}")
  verb_build
  logged "install" cmake --install "$build/release"
  say "installed to $prefix"
}

# wheel: the package in python/, for any Python.
verb_wheel() {
  need "${wheel_packages[@]}"
  logged "wheel" make_wheel
  say "built $(ls "$build"/wheel/*.whl)"
}

# make_wheel [--check]: nothing is fetched; what builds it is Debian's, and so is the Python that has it.
make_wheel() {
  local folder=$build/wheel
  rm -rf "$folder"
  mkdir -p "$folder/sources"
  cp -r python/pyproject.toml python/tally "$folder/sources"
  /usr/bin/python3 -m pip wheel --quiet --no-index --no-deps --no-build-isolation \
    --disable-pip-version-check --wheel-dir "$folder" "$folder/sources" || return 1
  rm -rf "$folder/sources"
  [[ ${1:-} != --check ]] || /usr/bin/python3 utils/check-wheel.py "$folder"/*.whl
}

# ---- Testing ------------------------------------------------------------------------------

passed=0
failed=0

# count NAME PASSED FAILED
count() {
  passed=$((passed + $2))
  failed=$((failed + $3))
  say "-- $1: $2 passed, $3 failed"
}

# check_one NAME COMMAND...: a step that is one test.
check_one() {
  if logged "$@"; then
    count "$1" 1 0
  else
    count "$1" 0 1
  fi
}

# count_results NAME KIND FILE: adds the cases of a result file; a missing or broken file is
# one failure, whatever the runner said.
count_results() {
  local numbers
  numbers=$(python3 utils/count-results.py "$2" "$3") || numbers="0 1"
  count "$1" "${numbers% *}" "${numbers#* }"
}

# The runners of many cases leave a result file, from which count_results shows the failed ones.
unit_tests() {
  local log_tail=10 results=$build/$1/unit-results
  rm -rf "$results"
  mkdir -p "$results"
  logged "unit tests $1" ctest --test-dir "$build/$1" --output-junit "$results/ctest.xml" \
    --output-on-failure --timeout 600 -j "$jobs" || true
  count_results "unit tests $1" shards "$results/ctest.xml"
}

lit_tests() {
  local log_tail=10 results=$build/$1/lit-results.json
  rm -f "$results"
  logged "lit tests $1" "$llvm/bin/lit" -v --timeout 120 -j "$jobs" -o "$results" \
    "$build/$1/test" || true
  count_results "lit tests $1" lit "$results"
}

doc_tests() {
  local results=$build/doc-results.txt
  check_one "rules of documents" python3 utils/test-docs.py
  rm -f "$results"
  logged "documented commands" python3 utils/check-docs.py --bin "$build/release/bin" \
    --results "$results" || true
  count_results "documented commands" counts "$results"
}

# matrix_tests NAME OPTION...: commands on kernels of every kind, a sample or all of them.
matrix_tests() {
  local name=$1 log_tail=30 results=$build/matrix-results.txt
  shift
  rm -f "$results"
  logged "$name" python3 utils/check-matrix.py --bin "$build/release/bin" --jobs "$jobs" \
    --results "$results" "$@" || true
  count_results "$name" counts "$results"
}

# Whole cases, in which all features are mixed; which pairs of them are rare is shown in any case.
pairs_tests() {
  local name=$1
  shift
  check_one "$name" "$build/release/bin/tally-fuzz" --pairs --jobs="$jobs" "$@"
  sed -n '/^features:/,$p' "$logs/${name// /-}.log" | sed -n 1,40p >&2
}

# The language of documents, help, messages and comments; and that the checker of it finds what it is for.
prose_tests() {
  check_one "rules of prose" python3 utils/test-prose.py
  check_one "prose" python3 utils/prose.py
}

# The package in python/: kernels in NKI, traced and compared with NumPy through tally's data.
nki_tests() {
  local python results=$build/nki-results.txt
  rm -f "$results"
  for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2>/dev/null && break
  done
  TALLY=$build/release/bin/tally logged "nki" "$python" python/tests/run.py "$results" || true
  count_results "nki" counts "$results"
}

# outside_tests SECONDS: the interpreter that is written from the documents alone. Its rules, on code
# written by hand; then what it says of a few random kernels as compiled, and whether the checks agree
# with it, for this many seconds each.
outside_tests() {
  local tally=$build/release/bin/tally seconds=$1
  check_one "outside rules" python3 utils/outside/test_outside.py
  check_one "outside kernels" python3 utils/outside/campaign.py --tally="$tally" --seconds="$seconds" \
    --jobs="$jobs"
  check_one "outside checks" python3 utils/outside/checks.py --tally="$tally" --seconds="$seconds" \
    --jobs="$jobs"
}

# Installs a build and builds the examples against the result alone.
embed_test() {
  local tree=$build/install/$1 example work
  rm -rf "$tree"
  cmake --install "$build/$1" --prefix "$tree" >/dev/null || return 1
  for example in embed write-kernel pipeline; do
    if [[ $example == pipeline && ! -x $tree/bin/tally ]]; then
      continue # it needs the program
    fi
    work=$build/embed/$1/$example
    cmake -S "examples/$example" -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_PREFIX_PATH="$tree" &&
      cmake --build "$work" &&
      "$work/$example" >"$work/output" &&
      diff -u "examples/$example"/expected.* "$work/output" || return 1
  done
}

# The gates of the proof, each a test; and the checker in the repository must be the one that the
# proof gives. What has passed is kept with the hash of all that it was made of.
proof_tests() {
  local log_tail=30 results=$build/proof-results.txt before=$failed
  rm -f "$results" "$build/proof-passed.txt"
  logged "proof" proof_gates "$results" || true
  count_results "proof" counts "$results"
  check_one "extraction" extraction_is_current
  if ((failed == before)); then
    { proof_hash && cat "$results"; } >"$build/proof-passed.txt"
  fi
}

# The same without a second look at files that have passed as they are.
proof_tests_if_changed() {
  local hash numbers
  if { read -r hash && read -r numbers; } 2>/dev/null <"$build/proof-passed.txt" &&
    [[ $hash == "$(proof_hash)" ]]; then
    say "== proof: nothing has changed since it passed; './do proof' looks again"
    count "proof" "${numbers% *}" 0
    count "extraction" 1 0
  else
    proof_tests
  fi
}

# One number for the files of the proof, and for the Coq that reads them.
proof_hash() {
  { coqc --version && find proof -type f | sort | xargs sha256sum; } | sha256sum | cut -d' ' -f1
}

proof_gates() {
  proof/check.sh "$build/proof" | tee /dev/stderr |
    sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' >"$1"
}

extraction_is_current() {
  local file
  for file in certifier.ml certifier.mli; do
    diff <(sed 's/[[:space:]]*$//' "$build/proof/$file") "proof/extraction/$file" || return 1
  done
}

# README's first command: its first result comes within ten seconds once all is built.
demo_is_quick() {
  local line
  "$root/do" demo | { IFS= read -r -t 10 line && cat >/dev/null && [[ $line == *"tally compile"* ]]; }
}

finish_tests() {
  printf '%d passed, %d failed\n' "$passed" "$failed"
  ((failed == 0 && passed > 0))
}

# test [--long]: what takes minutes; or, with --long, random tests on many times as many kernels, the
# core without MLIR, too, and the proof in any case.
verb_test() {
  need "${packages[@]}" "${proof_packages[@]}" "${test_packages[@]}" "${gallery_packages[@]}" \
    "${wheel_packages[@]}"
  case ${1:-} in
  "") test_steps proof_tests_if_changed 5 60 0.1 ;;
  --long) TALLY_LONG=1 test_steps proof_tests 12 50 0.5 core_tests ;;
  *) die "unknown option '$1' of 'test'; there is '--long'" 2 ;;
  esac
  say "-- all: $SECONDS s"
  finish_tests
}

# test_steps PROOF OUTSIDE-SECONDS MATRIX-SECONDS PAIRS-MINUTES [MORE]
test_steps() {
  "$1"
  prose_tests
  if build_tree release; then
    # Without it, there are no tests of certificates.
    check_one "checker is built" test -x "$build/release/bin/tally-certify"
    unit_tests release
    lit_tests release
    doc_tests
    check_one "demo" demo_is_quick
    nki_tests
    outside_tests "$2"
    check_one "embed release" embed_test release
    check_one "installed programs" python3 utils/check-install.py "$build/install/release" \
      "$llvm/bin/mlir-opt"
    check_one "tutorial and gallery with installed programs" python3 utils/check-docs.py \
      --bin "$build/install/release/bin" docs/guide/Tutorial.md docs/gallery/*/*.md
    check_one "gallery" make_gallery --check
    check_one "wheel" make_wheel --check
    matrix_tests matrix --seconds="$3"
    pairs_tests pairs --minutes="$4"
  else
    count "build release" 0 1
  fi
  ${5:+"$5"}
}

# The core without MLIR: the same unit tests once more, on other flags; the examples against what it
# installs; and all of it in one link, which takes minutes.
core_tests() {
  if build_tree whole libraries; then
    check_one "embed core" embed_test whole
    check_one "one definition of each name" cmake --build "$build/whole" -j "$jobs" --target whole-core-linked
  else
    count "build core" 0 1
  fi
  if build_tree core; then
    unit_tests core
  else
    count "build core tests" 0 1
  fi
}

verb_proof() {
  need "${proof_packages[@]}"
  proof_tests
  finish_tests
}

verb_sanitize() {
  need "${packages[@]}" "${test_packages[@]}"
  if build_tree sanitize; then
    unit_tests sanitize
    lit_tests sanitize
  else
    count "build sanitize" 0 1
  fi
  finish_tests
}

# fuzz [SECONDS [SEED]]: each libFuzzer target for this time, then random kernels for as long, mixed
# cases until all pairs of features have met, and every command on every kernel. Kernels, cases and
# mutants start from the seed, so another seed looks at others. Mutants of certified code take some
# ten minutes.
verb_fuzz() {
  local seconds=${1:-60} seed=${2:-1} minutes target
  local tally=$build/release/bin/tally certify=$build/release/bin/tally-certify
  [[ $seconds =~ ^[1-9][0-9]*$ && $seed =~ ^[0-9]+$ ]] ||
    die "'fuzz' takes a number of seconds and a seed, as in './do fuzz 60 1'" 2
  need "${packages[@]}" ocaml clang-22 libclang-rt-22-dev
  if build_tree fuzz libfuzzers; then
    for target in json text bytecode compile; do
      check_one "fuzz $target" utils/run-libfuzzers.sh "$build/fuzz" "$seconds" "$target"
    done
  else
    count "build fuzz" 0 1
  fi
  if build_tree release; then
    minutes=$(awk "BEGIN { print $seconds / 60 }")
    check_one "fuzz kernels" "$tally-fuzz" --seed="$seed" --minutes="$minutes" --jobs="$jobs"
    check_one "fuzz threads" "$tally-fuzz" --threads --seed="$seed" --jobs="$jobs"
    check_one "fuzz second opinion" python3 utils/threads/second_opinion.py --tally="$build/release/bin/tally" \
      --mutants=30 --runs=200 --kernels=matmul --strategies=per-loop,auto --random=1:0 --seed="$seed" --jobs="$jobs"
    pairs_tests "fuzz pairs" --all-pairs --seed="$seed" --minutes="$minutes"
    check_one "fuzz mutants" "$tally-fuzz" --mutants --seed="$seed" --jobs="$jobs"
    matrix_tests "fuzz matrix" --full --seed="$seed"
    check_one "outside kernels" python3 utils/outside/campaign.py --tally="$tally" --seed="$seed" \
      --seconds="$seconds" --jobs="$jobs" --choices=25 --features --out="$build/outside"
    check_one "outside checks" python3 utils/outside/checks.py --tally="$tally" --seed="$seed" \
      --seconds="$seconds" --jobs="$jobs" --out="$build/outside/checks"
    numpy=$(sed -n 's/^TALLY_NUMPY_PYTHON:[^=]*=//p' "$build/release/CMakeCache.txt")
    check_one "computed numbers" "$numpy" utils/outside/computes.py --tally="$tally" --seed="$seed" \
      --seconds="$seconds"
    check_one "seeded mistakes" python3 utils/outside/mistakes.py --build="$build/release" \
      --work="$build/mistakes" --seed="$seed" --jobs="$jobs"
    check_one "hostile code" python3 utils/outside/hostile.py --certify="$certify"
    check_one "mutants of certified code" python3 utils/outside/certify.py --tally="$tally" \
      --certify="$certify" --seed="$seed" --mutants=100000 --jobs="$jobs" --kinds --out="$build/certify"
  else
    count "build release" 0 1
  fi
  finish_tests
}

# ---- Benchmarks ---------------------------------------------------------------------------

# bench [NAME] [OPTION...]: build/core/bin/bench-NAME, or all of them. The one that runs `tally`
# itself is built with it.
verb_bench() {
  local name="*" program found=0
  if [[ $# -gt 0 && $1 != -* ]]; then
    name=$1
    shift
  fi
  need "${packages[@]}" ocaml # one of them measures the checker
  build_tree core bench/all
  local programs=("$build"/core/bin/bench-$name)
  # shellcheck disable=SC2053 # a pattern
  if [[ command == $name ]]; then
    build_tree release bench-command
    programs+=("$build/release/bin/bench-command")
  fi
  for program in "${programs[@]}"; do
    if [[ -x $program ]]; then
      found=1
      "$program" "$@"
    fi
  done
  if ((!found)); then
    die "no benchmark '$name'; there are: $(cd "$build/core/bin" && echo bench-* | sed 's/bench-//g') command" 2
  fi
}

# What the simulator says of our kernels, written into its page.
verb_results() {
  need "${packages[@]}"
  build_tree release tally
  python3 utils/simulated-results.py --bin="$build/release/bin"
}

# ---- Style --------------------------------------------------------------------------------

# Our own C++ files, in a stable order.
sources() {
  find bench examples fuzz include lib oracle tools unittests -name '*.cpp' -o -name '*.h' | sort
}

verb_format() {
  local options=(-i)
  case ${1:-} in
  "") ;;
  --check) options=(--dry-run --Werror) ;;
  *) die "unknown option '$1' of 'format'; there is '--check'" 2 ;;
  esac
  need clang-format-22
  sources | xargs clang-format-22 "${options[@]}"
}

# prose [OPTION...] [FILE...]: see utils/prose.py --help.
verb_prose() {
  python3 utils/prose.py "$@"
}

verb_tidy() {
  need "${packages[@]}" clang-tidy-22
  build_tree release
  say "== tidy"
  # Only what the build compiles: clang-tidy needs the command line of each file.
  sources | grep '\.cpp$' | while IFS= read -r file; do
    if grep -qF "\"$root/$file\"" "$build/release/compile_commands.json"; then
      echo "$file"
    fi
  done | xargs -P "$jobs" -n 1 clang-tidy-22 -p "$build/release" --quiet
}

# ---- Help ---------------------------------------------------------------------------------

verb_help() {
  cat <<'HELP'
usage: ./do VERB [OPTION...]

  demo                  compile a kernel with and without barriers; compare strategies in size and
                        time; timelines, for a trace viewer and as a page
  gallery               kernels from six lines to attention, as one site: build/gallery/index.html
  test [--long]         build and run every test; the last line is 'N passed, N failed'; with --long,
                        random tests look at many times as many kernels
  proof                 build the proof and hold it to its gates
  build                 build everything into build/release (programs: build/release/bin)
  install [PREFIX]      build, then install to PREFIX (default /usr/local)
  wheel                 the Python package as a wheel: build/wheel
  sanitize              build with ASan and UBSan, run the unit and lit tests
  fuzz [SECONDS [SEED]] each libFuzzer target and random kernels for this time (60), mixed cases
                        until all pairs of features have met, and mutants
  bench [NAME] [OPT...] run one benchmark, or all; options go to the benchmark
  results               build, then write the tables of docs/guide/Simulated.md
  format [--check]      format the C++ sources, or only say what is not formatted
  tidy                  run clang-tidy over the C++ sources
  prose [OPT...]        check the language of documents, help, messages and comments
  help                  this text

Missing packages are installed first (Debian 12, as root); elsewhere they are named. With
TALLY_NO_INSTALL=1 they are taken to be there under whatever name. Logs are in build/log.

examples:
  ./do demo
  ./do bench plan --format=json
  ./do install "$HOME/tally"
HELP
}

# ---- Demo ---------------------------------------------------------------------------------

# gallery: kernels from five lines to attention, as one site.
verb_gallery() {
  need "${packages[@]}" "${gallery_packages[@]}"
  build_tree release tally
  make_gallery
}

# Python-Markdown is Debian's; so is the Python that has it.
make_gallery() {
  /usr/bin/python3 utils/gallery.py --bin "$build/release/bin" --out "$build/gallery" "$@"
}

# A kernel with a dynamic loop, with and without barriers; the size of another one's code under all
# strategies; the time that a third one takes, and where it goes, as a page.
verb_demo() {
  need "${packages[@]}"
  build_tree release tally
  demo_side_by_side kernels/double_buffer.mlir barrier per-loop
  demo_command compare kernels/matmul.mlir
  demo_command bench --kernels=adamw --size=paper
  echo
  demo_traces adamw
}

# demo_command OPTION...: shows a command of tally, and its output.
demo_command() {
  echo
  echo "\$ tally $*"
  "$build/release/bin/tally" "$@"
}

# demo_traces NAME: timelines of a kernel with barriers, without, and as an expert would write it.
demo_traces() {
  local side tally=$build/release/bin/tally file=$build/demo/$1.mlir
  "$tally" kernels emit "$1" --size=paper --manual -o "$file"
  for side in barrier per-loop manual; do
    "$tally" sim "$file" "--sync=$side" --machine=trn2 --trace="$build/demo/$1-$side.json" \
      >"$build/demo/$1-$side.txt"
    echo "timeline for a trace viewer (ui.perfetto.dev): ${build#"$root/"}/demo/$1-$side.json"
  done
  "$tally" report "$file" --sync=barrier,per-loop,manual --machine=trn2 -o "$build/demo/$1.html"
  echo "the three side by side, for a browser: ${build#"$root/"}/demo/$1.html"
}

# demo_side_by_side KERNEL LEFT RIGHT: the listings of two strategies in two columns.
demo_side_by_side() {
  local side sides=()
  mkdir -p "$build/demo"
  for side in "$2" "$3"; do
    {
      echo "\$ tally compile --sync=$side --listing"
      echo
      "$build/release/bin/tally" compile "$1" "--sync=$side" --listing
    } >"$build/demo/$side.txt"
    sides+=("$build/demo/$side.txt")
  done
  python3 utils/side-by-side.py "${sides[@]}"
}

# refuse_verb VERB: names the verbs, and the one that was meant, as `tally` does.
refuse_verb() {
  local verbs meant
  verbs=$(declare -F | sed -n 's/^declare -f verb_//p' | xargs)
  # shellcheck disable=SC2086 # words
  meant=$(nearest "$1" $verbs)
  die "unknown verb '$1'; the verbs are: $verbs${meant:+; did you mean '$meant'?}" 2
}

# nearest WORD NAME...: the name that differs from the word in one character inserted, dropped, replaced
# or swapped with the next, or in less than half of them; nothing if none does.
nearest() {
  awk -v word="$1" -v names="${*:2}" '
    function least(x, y) { return x < y ? x : y }
    function distance(a, b,   i, j, d) {
      for (i = 0; i <= length(a); ++i) d[i, 0] = i
      for (j = 0; j <= length(b); ++j) d[0, j] = j
      for (i = 1; i <= length(a); ++i) {
        for (j = 1; j <= length(b); ++j) {
          d[i, j] = least(d[i - 1, j - 1] + (substr(a, i, 1) != substr(b, j, 1)), least(d[i - 1, j], d[i, j - 1]) + 1)
          if (i > 1 && j > 1 && substr(a, i, 1) == substr(b, j - 1, 1) && substr(a, i - 1, 1) == substr(b, j, 1))
            d[i, j] = least(d[i, j], d[i - 2, j - 2] + 1)
        }
      }
      return d[length(a), length(b)]
    }
    BEGIN {
      best = int(length(word) / 3) + 2
      for (i = 1; i <= split(names, all, " "); ++i) {
        d = distance(word, all[i])
        longer = length(word) < length(all[i]) ? length(all[i]) : length(word)
        if (d < best && (d == 1 && longer > 1 || 2 * d < longer)) { best = d; found = all[i] }
      }
      print found
    }'
}

main() {
  local verb=${1:-help}
  case "$verb ${2:-}" in
  -h\ * | --help\ *) verb=help ;;
  bench\ * | prose\ *) ;; # what they start has a help of its own
  *\ -h | *\ --help) verb=help ;;
  esac
  if ! declare -F "verb_$verb" >/dev/null; then
    refuse_verb "$verb"
  fi
  shift || true
  "verb_$verb" "$@"
}

main "$@"
