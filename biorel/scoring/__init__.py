"""Measures how good predictions are: thresholds, precision and recall, curves, tables and plots."""
