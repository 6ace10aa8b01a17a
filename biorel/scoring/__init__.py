"""How good are predictions: thresholds, precision and recall, curves, tables and plots."""
