# status.sh N COMMAND...: passes on what the command prints, and fails unless it ends with status N.
expected=$1
shift
"$@" 2>&1
found=$?
if [ "$found" != "$expected" ]; then
  echo "exit status $found instead of $expected: $*"
  exit 1
fi
