"""The command line: parses, calls a stage's `run`, prints. No logic."""
