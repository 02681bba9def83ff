"""`python -m stickers` is the `stickers` command."""

import sys

from stickers.cli import main

sys.exit(main())
