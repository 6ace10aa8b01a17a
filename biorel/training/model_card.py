"""What the README of a model's folder says of the options that it was trained with."""

from __future__ import annotations

from biorel.config import Config

# they say where a model is made and how fast, not what it is
_APART = {"out", "force", "threads"}


def options_told(config: Config, *inputs: str) -> list[str]:
    """The options that are not the defaults, as Markdown lines under a line that says so.

    Args:
        inputs: fields that the README tells otherwise.
    """
    told = [
        f"- `{name}`: {value}"
        for name, value in config
        if name not in _APART.union(inputs) and value != type(config).model_fields[name].default
    ]
    return ["Options other than the defaults:", "", *told]
