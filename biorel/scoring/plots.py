"""Plots of an evaluation, as PNG: F1 by distance (Figure 2) and precision-recall curves.

Colour-blind readers can distinguish the colours: a scale from dark to light for the ordered cutoffs, and the set of
Okabe and Ito for relations, with line styles once its colours are used up.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biorel.scoring.curves import CurvePoint
from biorel.scoring.distance import ALL_TYPES, DistanceRow
from biorel.scoring.tables import UNDEFINED, pair_type_title, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINE_STYLES = ("-", (0, (4, 1.5)), (0, (1, 1.2)))
DPI = 150
GREY = "#666666"
LIGHT = "#D9D9D9"


def plot_distance(rows: Sequence[DistanceRow], path: Path) -> None:
    """Bars of F1 by pair type, one colour for each cutoff, darker for smaller ones; a dash where F1 is undefined.

    Args:
        rows: the result of `distance.by_distance`.
        path: the PNG to write.
    """
    from matplotlib import colormaps

    cutoffs = sorted({row.cutoff for row in rows})
    types = list(dict.fromkeys(row.pair_type for row in rows))
    if len(types) == 2 and ALL_TYPES in types:
        types.remove(ALL_TYPES)  # with one pair type, both would show the same
    f1 = {(row.pair_type, row.cutoff): row.f1 for row in rows}
    figure = _figure(width=max(4.6, 1.2 + 1.9 * len(types)), height=3.9)
    axes = figure.add_subplot()
    width = 0.84 / max(1, len(cutoffs))
    for number, cutoff in enumerate(cutoffs):
        colour = colormaps["viridis"](0.1 + 0.8 * number / max(1, len(cutoffs) - 1))
        for place, type_ in enumerate(types):
            value = f1[type_, cutoff]
            x, height = place + (number - (len(cutoffs) - 1) / 2) * width, 100 * (value or 0.0)
            axes.bar(x, height, width * 0.92, color=colour, label="" if place else f"{cutoff}", zorder=2)
            text = UNDEFINED if value is None else f"{height:.0f}"
            axes.annotate(text, (x, height), (0, 2), textcoords="offset points", ha="center", fontsize=8)
    axes.set_xticks(range(len(types)), [_type_title(type_) for type_ in types])
    axes.set_xlim(-0.55, max(1, len(types)) - 0.45)
    axes.set_ylabel("F1 (%)")
    axes.set_ylim(0, 1.15 * max([10.0, *(100 * (value or 0.0) for value in f1.values())]))
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=LIGHT, linewidth=0.6)
    axes.tick_params(axis="x", length=0)
    figure.legend(
        *axes.get_legend_handles_labels(),
        title="Closest mentions at most this many tokens apart",
        loc="outside upper center",
        ncols=len(cutoffs) or 1,
        frameon=False,
        handlelength=1.0,
    )
    _save(figure, path)


def plot_curves(rows: Sequence[CurvePoint], path: Path) -> None:
    """Precision against recall, with a panel for each pair type; the legend gives average precisions.

    Relations without a point are left out. Grey lines connect points of equal F1.

    Args:
        rows: the result of `curves.precision_recall`.
        path: the PNG to write.
    """
    drawn = [row for row in rows if row.threshold is not None]
    types = list(dict.fromkeys(row.pair_type for row in drawn))
    entries = [len({row.relation for row in drawn if row.pair_type == type_}) for type_ in types]
    figure = _figure(width=max(4.6, 4.2 * len(types)), height=4.3 + 0.19 * max(entries, default=0))
    panels = figure.subplots(1, max(1, len(types)), squeeze=False)[0]
    for axes, type_ in zip(panels, types or [""], strict=True):
        _equal_f1(axes)
        axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="Recall", ylabel="Precision", aspect="equal", anchor="N")
        axes.set_title(_type_title(type_) if type_ else "No relation has gold facts", fontsize=11)
        mine = [row for row in drawn if row.pair_type == type_]
        averages = {row.relation: row.average_precision or 0.0 for row in mine}
        # the best first, so that the legend has the order of the curves
        for number, relation in enumerate(sorted(averages, key=lambda name: (-averages[name], name))):
            _curve(axes, [row for row in mine if row.relation == relation], number)
        if averages:
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False, fontsize=8.5, handlelength=2.6)
    _save(figure, path)


def _curve(axes: Axes, points: Sequence[CurvePoint], number: int) -> None:
    """The steps of one relation: the precision at each recall holds back to the recall before it, as in AP."""
    height: dict[float, float] = {}
    for point in points:
        # of several thresholds with the same recall, the highest comes first and has the best precision
        if point.recall:
            height.setdefault(point.recall, point.precision or 0.0)
    relation, positives, average = points[0].relation, points[0].positives, points[0].average_precision
    axes.plot(
        [0.0, *height],
        [*list(height.values())[:1], *height.values()],
        drawstyle="steps-pre",
        color=OKABE_ITO[number % len(OKABE_ITO)],
        linestyle=LINE_STYLES[number // len(OKABE_ITO) % len(LINE_STYLES)],
        linewidth=1.5,
        label=f"{short_name(relation)}: AP {average or 0.0:.2f} (n = {positives:,})",
    )


def _equal_f1(axes: Axes) -> None:
    """Lines on which F1 is 20, 40, 60 and 80 %: precision = F r / (2 r - F)."""
    for f1 in (0.2, 0.4, 0.6, 0.8):
        start = f1 / (2 - f1)
        recalls = [start + (1 - start) * (step / 200) ** 2 for step in range(201)]
        axes.plot(recalls, [f1 * r / (2 * r - f1) for r in recalls], color=LIGHT, linewidth=0.8, zorder=0)
        name = f"F1 {100 * f1:.0f}"
        axes.annotate(name, (1, start), (3, -3), textcoords="offset points", fontsize=7, color=GREY)


def _type_title(pair_type: str) -> str:
    return "All pairs" if pair_type == ALL_TYPES else pair_type_title(pair_type)


def _figure(*, width: float, height: float) -> Figure:
    """An empty figure, in inches, without matplotlib's global state: it needs no display and is thread-safe."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _save(figure: Figure, path: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    FigureCanvasAgg(figure)
    # without matplotlib's version in the file, the same rows give the same bytes
    metadata: dict[str, Any] = {"Software": None}
    figure.savefig(path, format="png", dpi=DPI, metadata=metadata)
