"""Configuration of the documentation: `sphinx-build -W -b html docs docs/_build`."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

from biorel import __version__  # noqa: E402

project = "biorel"
author = "The biorel authors"
project_copyright = "2026, the biorel authors"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "command_pages"]
exclude_patterns = ["_build", "_ext"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = True
napoleon_numpy_docstring = False

# "--out" must not become a dash in the help texts.
smartquotes = False

html_theme = "furo"
html_title = f"biorel {version}"
html_copy_source = False
html_show_sourcelink = False
