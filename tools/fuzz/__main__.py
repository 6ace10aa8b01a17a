"""`python -m tools.fuzz` runs the fuzzer."""

from tools.fuzz.run import main

main()
