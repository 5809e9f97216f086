# slips.sh PROGRAM: each option in the program's help is suggested for the same with an x at its end.
count=0
for name in --help $("$1" --help | grep -oE '^  --[a-z]+'); do
  ((++count))
  if ! "$1" "${name}x" 2>&1 | grep -qF "unknown option '${name}x'; did you mean '$name'?"; then
    echo "'${name}x' is not taken for '$name'"
    exit 1
  fi
done
((count > 5))
