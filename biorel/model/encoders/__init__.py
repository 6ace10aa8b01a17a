"""Encoders: [B, T, D] embedded tokens and their mask -> [B, T, D] tokens in context.

A new one is a file here and a line in `ENCODERS`.
"""

from __future__ import annotations

from biorel.model.encoders.transformer import Transformer

ENCODERS = {"transformer": Transformer}
