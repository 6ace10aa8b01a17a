"""Extract relations with scores and evidence from documents. This package also contains the Python API."""
