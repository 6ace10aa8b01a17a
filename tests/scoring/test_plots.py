"""The pictures are written, whole, and the same each time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from biorel.scoring.curves import CurvePoint
from biorel.scoring.distance import DistanceRow
from biorel.scoring.plots import plot_curves, plot_distance

PNG = b"\x89PNG\r\n\x1a\n"


def distance_rows(*types: str) -> list[DistanceRow]:
    return [
        DistanceRow(cutoff, type_, 0.5, 0.5, None if cutoff == 11 else 0.5, 1, 2, 2, 9)
        for cutoff in (11, 25)
        for type_ in ("all", *types)
    ]


def curve_points(relations: int) -> list[CurvePoint]:
    return [
        CurvePoint(f"t:r{number}", f"chemical_{'gene' if number % 2 else 'disease'}", 2, 0.8, *point)
        for number in range(relations)
        for point in ((0.9, 0.0, 0.0), (0.8, 0.5, 0.5), (0.7, 0.3, 0.5), (0.2, 0.4, 1.0))
    ] + [CurvePoint("t:absent", "", 0, None, None, None, None)]


@pytest.mark.parametrize("types", [[], ["chemical_disease"], ["chemical_disease", "chemical_gene"]])
def test_distance_plot(types: list[str], tmp_path: Path) -> None:
    plot_distance(distance_rows(*types), tmp_path / "one.png")
    plot_distance(distance_rows(*types), tmp_path / "two.png")
    assert (tmp_path / "one.png").read_bytes().startswith(PNG)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


@pytest.mark.parametrize("relations", [0, 1, 20])
def test_curves_plot(relations: int, tmp_path: Path) -> None:
    plot_curves(curve_points(relations), tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(PNG)


def test_matplotlib_waits_until_a_plot_is_wanted() -> None:
    code = "import sys, biorel.scoring.plots; sys.exit('matplotlib' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
