"""`python -m commonplace` is the command line."""

from commonplace.surfaces.cli.main import main

main()
