"""`python -m races` is the command `races`."""

import sys

from races.cli import main

if __name__ == "__main__":
    sys.exit(main())
