"""`python -m biorel`."""

from biorel.cli.app import main

main()
