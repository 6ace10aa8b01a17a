"""Extraction: documents in, relations with scores and evidence out. The Python API lives here."""
