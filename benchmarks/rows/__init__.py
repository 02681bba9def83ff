"""The rows of the targets, one module per family; each has ``ROWS`` and ``measure(run, options)``."""
