"""Markdown tables in the form of the paper's tables, aligned so that they are readable as plain text.

Measures are percentages with one decimal; an undefined measure is shown as a dash.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from biorel.scoring.metrics import Metrics, Prf

UNDEFINED = "–"
# no-break spaces, which Markdown does not strip from a cell
INDENT = "\u00a0\u00a0"
SPLIT_NAMES = {"dev": "Development"}


def relation_table(metrics: Metrics) -> str:
    """Micro and macro measures, then each relation under its pair type, with its number of gold facts (Table 7).

    There are two macro F1: the mean of the relations' F1, and the F1 of mean precision and mean recall, which the
    paper reports. With one relation the table has one row.
    """
    rows = [("Micro", *percents(metrics.micro), _whole(metrics.micro.gold))]
    if len(metrics.by_relation) > 1:
        rows.append(("Macro", *percents(metrics.macro), ""))
        rows.append(("Macro, F1 of mean P and R", "", "", percent(metrics.f1_of_means), ""))
        for pair_type, labels in _by_pair_type(metrics.by_relation, metrics.home_types).items():
            prf = metrics.by_pair_type.get(pair_type)
            rows.append((pair_type_title(pair_type), *(percents(prf) if prf else ("", "", "")), _support(prf)))
            for label in labels:
                of_label = metrics.by_relation[label]
                rows.append((INDENT + short_name(label), *percents(of_label), _whole(of_label.gold)))
    return markdown_table(("Relation", "P", "R", "F1", "Support"), rows)


def dataset_table(stats: Mapping[str, Any]) -> str:
    """The counts of a dataset by split (Table 1), by pair type (Table 5), and by relation and split (Table 6).

    Args:
        stats: `splits`, from name to the counts of a split, and `total`, the same counts over all. Counts:
            `documents`, `positives`, `negatives`, `dropped_hypernym`, `too_long`; `by_relation`, from label
            to positives; `by_pair_type`, from pair type to `documents`, `positives`, `negatives`.
    """
    splits, total = stats["splits"], stats["total"]
    columns = ("documents", "positives", "negatives")
    dropped = ("dropped_hypernym", "too_long")
    by_split = markdown_table(
        ("Data split", "Docs", "Pos", "Neg", "Hypernyms left out", "Too long"),
        [
            (name, *(_whole(counts[column]) for column in columns + dropped))
            for name, counts in [
                *((split_title(name), counts) for name, counts in splits.items()),
                ("Total", total),
            ]
        ],
    )
    by_pair_type = markdown_table(
        ("Types", "Docs", "Pos", "Neg"),
        [
            ("Total", *(_whole(total[column]) for column in columns)),
            *(
                (pair_type_title(name), *(_whole(counts[column]) for column in columns))
                for name, counts in total["by_pair_type"].items()
            ),
        ],
    )
    homes = {label: _stated_pair_type(label, total["by_pair_type"]) for label in total["by_relation"]}
    rows: list[Sequence[str]] = [("Total", *(_whole(counts["positives"]) for counts in splits.values()))]
    for pair_type, labels in _by_pair_type(total["by_relation"], homes).items():
        rows.append((pair_type_title(pair_type), *("" for _ in splits)))
        rows += [
            (
                INDENT + short_name(label),
                *(_whole(counts["by_relation"].get(label, 0)) for counts in splits.values()),
            )
            for label in labels
        ]
    by_relation = markdown_table(("Positives", *map(split_title, splits)), rows)
    return "\n".join((by_split, by_pair_type, by_relation))


def pair_type_title(pair_type: str) -> str:
    """`Chemical / Disease` for `chemical_disease`."""
    return " / ".join(part.capitalize() for part in pair_type.split("_")) or "No pair type"


def short_name(label: str) -> str:
    """A label without the prefix of its pair type, which `ctd13` and `ctd14` use."""
    return label.partition(":")[2] or label


def split_title(split: str) -> str:
    return SPLIT_NAMES.get(split, split.capitalize())


def _stated_pair_type(label: str, pair_types: Iterable[str]) -> str:
    """The pair type of a label: its prefix, or the only pair type, or empty."""
    names = list(pair_types)
    prefix = label.partition(":")[0]
    return prefix if prefix in names else names[0] if len(names) == 1 else ""


def _by_pair_type(labels: Iterable[str], homes: Mapping[str, str]) -> dict[str, list[str]]:
    """Labels by pair type, both in order of first use. A relation without gold facts is placed by its prefix."""
    groups: dict[str, list[str]] = {}
    for label in labels:
        home = homes.get(label) or _stated_pair_type(label, sorted(set(homes.values())))
        groups.setdefault(home, []).append(label)
    return groups


def percent(value: float | None) -> str:
    """A fraction in the format of the tables."""
    return UNDEFINED if value is None else f"{100 * value:.1f}"


def percents(prf: Prf) -> tuple[str, str, str]:
    """P, R and F1 in the format of the tables."""
    return (percent(prf.precision), percent(prf.recall), percent(prf.f1))


def _whole(count: int) -> str:
    return f"{count:,}"


def _support(prf: Prf | None) -> str:
    return _whole(prf.gold) if prf else ""


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with a left-aligned first column and right-aligned others."""
    cells = [header, *rows]
    widths = [max(3, *(len(row[column]) for row in cells)) for column in range(len(header))]
    lines = [_line(row, widths) for row in cells]
    rule = "|".join(["", ":" + "-" * (widths[0] + 1), *("-" * (width + 1) + ":" for width in widths[1:]), ""])
    return "\n".join([lines[0], rule, *lines[1:], ""])


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first = row[0].replace("|", "\\|").ljust(widths[0])
    return (
        "| " + " | ".join([first, *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]) + " |"
    )
