"""The encoder's sizes: the options that every command which builds one shares."""

from __future__ import annotations

from pydantic import Field

WIDTH = Field(64, ge=4, description="D, the width of a token")
BLOCKS = Field(2, ge=0, description="Transformer blocks")
HEADS = Field(4, ge=0, description="attention heads; 0 leaves attention out ('CNN only')")
KERNELS: tuple[int, ...] = Field((1, 5, 1), description="widths of the convolutions of a block")
EXPANSION = Field(4, ge=1, description="channels inside the convolutions, times D")
POSITIONS = Field(1000, ge=1, description="learned positions; longer texts are read in windows")


def heads_fault(width: int, heads: int) -> str:
    """What is wrong with the two together, empty where nothing is."""
    return f"--width {width} is not a multiple of --heads {heads}" if heads and width % heads else ""
