"""`python -m tally.nki`, the same as `tally-nki`."""

import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main())
