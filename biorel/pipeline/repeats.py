"""The stages of a pipeline in the order in which they run: once each, or once for every seed or fold.

If stages are repeated, a stage that takes the repeated option is copied, and so is every stage that depends on a copy.
The copy for the value V writes `OUT/seed-V/NAME` (or `OUT/fold-V/NAME`). All other stages write `OUT/NAME` and run
once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from biorel.errors import ConfigError
from biorel.pipeline.stages import StageKind, Table, fill, placeholders, read_stages

# options of a dataset that comes with its splits: no folds are drawn for it
_GIVEN_SPLITS = ("train", "dev", "test", "splits")
# options for another way of drawing splits, which folds replace
_OTHER_DRAWS = ("split_sizes",)


@dataclass(frozen=True)
class Repeats:
    """The option that is repeated, and its values from 1 to `count`.

    Attributes:
        word: "seed" or "fold".
        count: the number of copies.
    """

    word: str
    count: int

    @property
    def values(self) -> tuple[int, ...]:
        """1 to `count`."""
        return tuple(range(1, self.count + 1))

    @property
    def gathered(self) -> bool:
        """Whether a command that gathers may take the outputs of all copies.

        This is never allowed for folds: the documents that one fold tests on are training documents of the others.
        """
        return self.word == "seed"

    def apply_to(self, kind: StageKind, table: Table) -> bool:
        """Whether a stage takes the option: seeds any stage with `seed`, folds a dataset that draws its splits."""
        if self.word == "seed":
            return "seed" in kind.options
        return {"fold", "folds"} <= kind.options and not any(table.get(name) for name in _GIVEN_SPLITS)

    def changed(self, table: Table, value: int) -> Table:
        """The options of the copy for one value."""
        if self.word == "seed":
            return table | {"seed": value}
        kept = {name: item for name, item in table.items() if name not in _OTHER_DRAWS}
        return kept | {"folds": self.count, "fold": value}

    def label(self, value: int, name: str) -> str:
        """The label of a copy, such as `seed-1/model`."""
        return f"{self.word}-{value}/{name}"


@dataclass(frozen=True)
class Stage:
    """One stage to run.

    Attributes:
        name: its name in the pipeline file; all copies of a stage share it.
        label: its name in messages, and its place under OUT.
        command: the command that it runs.
        values: the options of the command, not yet validated.
        out: the file or folder that it writes.
        uses: labels of the stages that it depends on.
        value: the seed or fold of a copy; None if the stage runs once.
    """

    name: str
    label: str
    command: str
    values: Table
    out: Path
    uses: frozenset[str]
    value: int | None


@dataclass(frozen=True)
class Plan:
    """A pipeline file with all settings of one run.

    Attributes:
        pipeline: the TOML file.
        out: folder of all outputs.
        data: path for the placeholder {data}.
        changes: `STAGE.FIELD=VALUE`, each of which overrides a field of the file.
        everywhere: options for each stage that takes them, such as the device.
        repeats: the option to repeat, if any.
    """

    pipeline: Path
    out: Path
    data: Path | None = None
    changes: Sequence[str] = ()
    everywhere: Mapping[str, Any] | None = None
    repeats: Repeats | None = None

    def stages(self, commands: Mapping[str, StageKind]) -> list[Stage]:
        """All stages in the order in which they run.

        Consecutive copied stages run value by value: the first seed is finished before the second begins.

        Args:
            commands: the commands that a stage may name.

        Raises:
            ConfigError: the file is not a valid pipeline, or no stage takes the repeated option.
            InputError: the file cannot be read.
        """
        rows: list[list[Stage]] = []
        made: dict[str, list[Stage]] = {}
        for table in read_stages(self.pipeline, self.changes, commands):
            name = str(table.pop("name"))
            made[name] = self._copies(name, commands[str(table["command"])], table, made)
            rows.append(made[name])
        self._check(list(chain(*rows)))
        blocks = groupby(rows, key=lambda row: row[0].value is not None)
        # within a block of copied stages, rows (one stage, all values) become columns (one value, all stages)
        return [
            stage
            for copied, block in blocks
            for stages in (zip(*block, strict=True) if copied else block)
            for stage in stages
        ]

    def _check(self, stages: Sequence[Stage]) -> None:
        if self.repeats is None:
            return
        word = self.repeats.word
        if all(stage.value is None for stage in stages):
            raise ConfigError(
                f"--{word}s: no stage of {self.pipeline} takes a {word}",
                "train takes a seed; build-dataset takes a fold if it draws the split itself",
            )
        taken = {self.out / f"{word}-{value}" for value in self.repeats.values}
        for stage in stages:
            if stage.out in taken:
                raise ConfigError(f"stage {stage.name}: {stage.out} is the folder of a {word}", "rename the stage")

    def _copies(self, name: str, kind: StageKind, table: Table, made: Mapping[str, Sequence[Stage]]) -> list[Stage]:
        """The stage itself if it runs once, otherwise its copies."""
        command = str(table.pop("command"))
        repeats = self.repeats
        sources = [stage for place in placeholders(table) for stage in made.get(place, ())]

        def stage(value: int | None, label: str, values: Table) -> Stage:
            out = self.out / f"{label}{kind.suffix}"
            uses = frozenset(source.label for source in sources if value is None or source.value in (value, None))
            return Stage(name, label, command, values | {"out": str(out)}, out, uses, value)

        def filled(value: int | None) -> Table:
            values: Table = fill(table, self._paths(made, value), name)
            everywhere = self.everywhere or {}
            return values | {option: item for option, item in everywhere.items() if option in kind.options}

        applies = repeats is not None and repeats.apply_to(kind, table)
        on_copies = any(source.value is not None for source in sources)
        if repeats is None or not (applies or on_copies):
            return [stage(None, name, filled(None))]
        if kind.gathers and repeats.gathered:
            return [stage(None, name, _gathered([filled(value) for value in repeats.values], name))]
        return [
            stage(
                value,
                repeats.label(value, name),
                repeats.changed(filled(value), value) if applies else filled(value),
            )
            for value in repeats.values
        ]

    def _paths(self, made: Mapping[str, Sequence[Stage]], value: int | None) -> dict[str, str]:
        """The paths of all placeholders in the copy for one value."""
        paths = {"out": str(self.out)} | ({"data": str(self.data)} if self.data else {})
        return paths | {
            name: str(stage.out) for name, row in made.items() for stage in row if stage.value in (value, None)
        }


def _gathered(copies: Sequence[Table], name: str) -> Table:
    """One stage from its copies: lists are joined without duplicates, all other fields must agree.

    Raises:
        ConfigError: a field that is not a list names the output of a copied stage.
    """
    first = copies[0]
    for field, value in first.items():
        if not isinstance(value, list) and any(copy[field] != value for copy in copies):
            raise ConfigError(f"stage {name}: {field} names several outputs", f'write {field} = ["..."], a list')
    return {
        field: list(dict.fromkeys(item for copy in copies for item in copy[field]))
        if isinstance(value, list) and len(copies) > 1
        else value
        for field, value in first.items()
    }
