#!/usr/bin/env bash
# check.sh [BUILD-FOLDER] - build the proof out of tree and hold it to its gates
#
# Each gate is one test; the last line is `N passed, N failed`. Exit status 0: all passed, 1: some
# failed, 2: could not be run. Without a folder, a temporary one is used. Needs coq 8.16 (packages
# coq, ocaml, ocaml-findlib) and perl.

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for tool in coqc coq_makefile coqchk perl make; do
  if ! command -v "$tool" >/dev/null; then
    echo "proof/check.sh: '$tool' not found; install coq, ocaml and ocaml-findlib" >&2
    exit 2
  fi
done

if [ $# -ge 1 ]; then
  mkdir -p "$1" && build=$(cd "$1" && pwd) || exit 2
else
  build=$(mktemp -d) || exit 2
  trap 'rm -rf "$build"' EXIT
fi

passed=0
failed=0

# gate NAME COMMAND...: one test; the output is shown only when it fails
gate() {
  local name=$1 log
  shift
  if log=$("$@" 2>&1); then
    echo "ok    $name"
    passed=$((passed + 1))
  else
    echo "FAIL  $name"
    printf '%s\n' "$log" | tail -n 40 | sed 's/^/      /'
    failed=$((failed + 1))
  fi
}

# Sources are copied only when they changed, so that a kept folder builds only what is needed.
build_all() {
  local file
  mkdir -p "$build/theories" && cp "$here/_CoqProject" "$build/_CoqProject" || return 1
  for file in "$build"/theories/*.v; do
    if [ -e "$file" ] && [ ! -e "$here/theories/${file##*/}" ]; then
      rm -f "${file%.v}".*
    fi
  done
  for file in "$here"/theories/*.v; do
    cmp -s "$file" "$build/theories/${file##*/}" || cp "$file" "$build/theories/" || return 1
  done
  cd "$build" && coq_makefile -f _CoqProject -o Makefile.coq && make -s -f Makefile.coq -j2
}

# The file without its comments, which nest; strings hold no comment marks here. Lines are kept.
without_comments() {
  perl -0777 -ne '
    my ($depth, $out) = (0, "");
    while (/\G(\(\*|\*\)|\n|.)/gs) {
      if ($1 eq "(*") { $depth++ }
      elsif ($1 eq "*)" && $depth > 0) { $depth-- }
      elsif ($depth == 0 || $1 eq "\n") { $out .= $1 }
    }
    print $out' "$1"
}

# no_word PATTERN: it occurs in no theory outside comments
no_word() {
  local file hits=0
  for file in "$here"/theories/*.v; do
    if without_comments "$file" | grep -nE "$1" | sed "s|^|${file##*/}:|" | grep .; then
      hits=1
    fi
  done
  [ $hits -eq 0 ]
}

all_listed() {
  diff <(cd "$here" && ls theories/*.v | sort) <(grep '\.v$' "$here/_CoqProject" | sort)
}

short_lines() {
  ! grep -nE '.{101}' "$here"/theories/*.v
}

# What each theorem of Main.v rests on, one line each.
assumptions() {
  local names name
  names=$(grep -oE '^Theorem [a-zA-Z0-9_]+' "$here/theories/Main.v" | cut -d' ' -f2)
  {
    echo 'From Tally Require Import Main.'
    for name in $names; do
      echo "Print Assumptions $name."
    done
  } >"$build/assumptions.v"
  (cd "$build" && coqc -Q theories Tally assumptions.v) >"$build/assumptions.out" || return 1
  paste -d: <(printf '%s\n' "$names") <(sed 's/^/ /' "$build/assumptions.out")
}

assumptions_expected() {
  assumptions >"$build/assumptions.txt" || return 1
  diff "$here/expected/assumptions.txt" "$build/assumptions.txt"
}

# Everything checked again by the independent checker, which also lists all axioms.
independent_check() {
  local out
  out=$(cd "$build" && coqchk -silent -o -Q theories Tally Tally.Main Tally.Examples \
    Tally.KeptExamples 2>&1) || {
    printf '%s\n' "$out"
    return 1
  }
  printf '%s\n' "$out" | grep -A1 '^\* Axioms' | tr -d '\n' | grep -q '<none>' || {
    printf '%s\n' "$out"
    return 1
  }
}

gate 'everything builds' build_all
gate 'every theory is in _CoqProject' all_listed
gate 'no proof is left open' no_word '\b(Admitted|admit|Abort|give_up)\b'
gate 'no axiom' no_word '\b(Axioms?|Parameters?|Conjecture|Declare Instance)\b'
gate 'no check is switched off' no_word 'Unset +(Guard|Positivity|Universe) +Checking|bypass_check|type-in-type'
gate 'no query is left behind' no_word '^ *(Print|Check|Search|Show|Eval|Compute|Locate|About)\b'
gate 'no line is over 100 columns' short_lines
gate 'theorems rest on what is expected' assumptions_expected
gate 'coqchk agrees' independent_check

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
