"""Serve one judge: the program's start."""

import os
import sys

# Isolated from the environment as this interpreter is, it finds the package by this file's own place.
sys.path.append(os.path.abspath(f"{__file__}/../../../.."))

from adjudge.machines.boot.server import main

if __name__ == "__main__":
    main()
