"""The command line: parses options, calls a command's `run` and prints the result."""
