"""The outside world into records: one file per format or service."""
