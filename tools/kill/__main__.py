"""`python -m tools.kill` runs the kill test."""

from tools.kill.run import main

main()
