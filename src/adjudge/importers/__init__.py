"""From a path to runs: one module per format, each recognised by what a file holds."""
