"""Pipelines as TOML files: stages, seeds and folds, summaries."""
