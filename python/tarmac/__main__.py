"""``python -m tarmac`` is the command line."""

from tarmac.cli import main

if __name__ == "__main__":
    main()
