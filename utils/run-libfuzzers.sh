#!/usr/bin/env bash
# Runs every libFuzzer program for some seconds:  utils/run-libfuzzers.sh BUILD [SECONDS [NAME...]]
#
# BUILD is a build folder made with -DTALLY_LIBFUZZER=ON and the target `libfuzzers`. Inputs
# start from fuzz/corpus/NAME; what is found on the way stays in BUILD/corpus/NAME and is used again
# by the next run. An input that crashes, takes 30 s or 2 GiB is left in BUILD/crashes, and the
# command that repeats it is printed.
#
# The last line is 'N passed, N failed'.
set -uo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
build=$(realpath "${1:?usage: run-libfuzzers.sh BUILD [SECONDS [NAME...]]}")
seconds=${2:-60}
shift "$(($# < 2 ? $# : 2))"
names=("$@")
if ((${#names[@]} == 0)); then
  for program in "$build"/bin/fuzz-*; do
    names+=("$(basename "${program#*fuzz-}")")
  done
fi

passed=0 failed=0
for name in "${names[@]}"; do
  corpus=$build/corpus/$name crashes=$build/crashes/$name log=$build/fuzz-$name.log
  mkdir -p "$corpus" "$crashes"
  options=(-rss_limit_mb=2048 -timeout=30 -print_final_stats=1 "-artifact_prefix=$crashes/")
  if [[ -f $root/fuzz/corpus/$name.dict ]]; then
    options+=("-dict=$root/fuzz/corpus/$name.dict")
  fi
  if "$build/bin/fuzz-$name" "${options[@]}" -max_total_time="$seconds" "$corpus" \
    "$root/fuzz/corpus/$name" >"$log" 2>&1; then
    passed=$((passed + 1))
    echo "$name: $(grep -o 'number_of_executed_units: .*' "$log"), nothing found"
  else
    failed=$((failed + 1))
    grep -E 'ERROR|SUMMARY|Assertion|runtime error' "$log" | head -n 5
    echo "$name: found $(grep -o "$crashes/.*" "$log" | tail -n 1); repeat with" \
      "$build/bin/fuzz-$name FILE; see $log"
  fi
done
printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0 && passed > 0))
