"""biorel: from biomedical abstracts to linked, scored, evidenced relations."""

__version__ = "0.1.0"
