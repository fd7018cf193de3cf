"""`python -m thalweg`: the command line."""

import sys

from thalweg.cli import main

if __name__ == "__main__":
    sys.exit(main())
