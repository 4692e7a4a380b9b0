"""`python -m adjudge` is the `adjudge` command."""

from adjudge.cli.start import main

main()
