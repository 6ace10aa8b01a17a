"""The stages of a pipeline as they will run: once each, or once for every value of one field (a seed, a fold).

A stage that takes the field, and every stage that hangs on such a one, is copied: the copy for the value V writes
`OUT/seed-V/NAME` (`OUT/fold-V/NAME`). The others write `OUT/NAME`, run once and are shared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from biorel import config
from biorel.config import BuildDataset, Config, Run
from biorel.errors import ConfigError
from biorel.pipeline.stages import Command, Table, filled, places_in, read_stages

# the ways in which a dataset comes with its split, or has another than folds draw
_GIVEN_SPLITS = ("train", "dev", "test", "splits")
_OTHER_DRAW = ("split_sizes",)


@dataclass(frozen=True)
class Replica:
    """One field and its values.

    Attributes:
        word: names the folder of a copy.
        values: each is a copy.
        changes: the fields that a stage is given for one value.
        instead_of: fields of a stage that these stand for.
        takes: whether a stage, by its configuration and its table, takes the field.
        gathered: whether a command that gathers is given the outputs of all copies. Never those of folds: what one
            fold tests on, the others have trained on.
    """

    word: str
    values: tuple[int, ...]
    changes: Callable[[int], dict[str, Any]]
    takes: Callable[[type[Config], Table], bool]
    instead_of: tuple[str, ...] = ()
    gathered: bool = False

    def label(self, value: int, name: str) -> str:
        """`seed-1/model`."""
        return f"{self.word}-{value}/{name}"


@dataclass(frozen=True)
class Stage:
    """One stage as it will run.

    Attributes:
        name: that of the pipeline file; the copies of a stage share it.
        label: what it is called in the news, and its place under OUT.
        uses: the labels of the stages that it hangs on.
        value: of its copy; None where it runs once.
    """

    name: str
    label: str
    command: str
    config: Config
    out: Path
    uses: frozenset[str]
    value: int | None


def replica_of(given: Run) -> Replica | None:
    """What --seeds or --folds ask for."""
    if given.seeds is not None:
        return Replica(
            word="seed",
            values=tuple(range(1, given.seeds + 1)),
            changes=lambda value: {"seed": value},
            takes=lambda kind, _: "seed" in kind.model_fields,
            gathered=True,
        )
    if given.folds is not None:
        return Replica(
            word="fold",
            values=tuple(range(1, given.folds + 1)),
            changes=lambda value: {"folds": given.folds, "fold": value},
            takes=lambda kind, table: kind is BuildDataset and not any(table.get(name) for name in _GIVEN_SPLITS),
            instead_of=_OTHER_DRAW,
        )
    return None


def plan(given: Run, commands: Mapping[str, Command]) -> list[Stage]:
    """All stages in the order in which they run, configured before the first of them does.

    Copied stages that follow one another run value by value, so that the first seed is done before the second begins.

    Raises:
        ConfigError: a fault in any stage, or no stage takes the field of --seeds or --folds.
        InputError: the pipeline file cannot be read.
    """
    replica = replica_of(given)
    rows: list[list[Stage]] = []
    made: dict[str, list[Stage]] = {}
    for table in read_stages(given, commands):
        name, command = str(table.pop("name")), commands[str(table["command"])]
        row = _row(given, replica, name, command, table, made)
        made[name] = row
        rows.append(row)
    copied = [stage for row in rows for stage in row if stage.value is not None]
    if replica is not None and not copied:
        raise ConfigError(
            f"--{replica.word}s: no stage of {given.pipeline} takes a {replica.word}",
            "train takes a seed; build-dataset takes a fold where it draws the split itself",
        )
    taken = {given.out / f"{replica.word}-{value}" for value in replica.values} if replica is not None else set()
    for stage in chain(*rows):
        if stage.out in taken:
            raise ConfigError(f"stage {stage.name}: {stage.out} is the folder of a {stage.name.partition('-')[0]}")
    blocks = groupby(rows, key=lambda row: row[0].value is not None)
    # the rows of a block are turned into columns: all stages of one value
    return [stage for many, block in blocks for part in (zip(*block, strict=True) if many else block) for stage in part]


def _row(
    given: Run,
    replica: Replica | None,
    name: str,
    command: Command,
    table: Table,
    made: Mapping[str, Sequence[Stage]],
) -> list[Stage]:
    """One stage, or its copies."""
    word = str(table.pop("command"))
    sources = [stage for place in places_in(table) for stage in made.get(place, ())]
    on_copies = any(stage.value is not None for stage in sources)
    takes = replica is not None and replica.takes(command.kind, table)
    gathers = replica is not None and replica.gathered and command.gathers

    def stage(value: int | None, label: str, values: Table) -> Stage:
        out = given.out / f"{label}{command.suffix}"
        configured = _configure(command.kind, name, values | {"out": str(out)})
        uses = frozenset(one.label for one in sources if value is None or one.value in (value, None))
        return Stage(name, label, word, configured, out, uses, value)

    def filled_for(value: int | None) -> Table:
        table_of_value: Table = filled(table, _places(given, made, value), name)
        return table_of_value | _given_to_all(given, command.kind)

    if replica is None or not (takes or on_copies):
        return [stage(None, name, filled_for(None))]
    if gathers:
        return [stage(None, name, _joined([filled_for(value) for value in replica.values], name))]
    row = []
    for value in replica.values:
        values = filled_for(value)
        if takes:
            values = {field: item for field, item in values.items() if field not in replica.instead_of}
            values |= replica.changes(value)
        row.append(stage(value, replica.label(value, name), values))
    return row


def _places(given: Run, made: Mapping[str, Sequence[Stage]], value: int | None) -> dict[str, str]:
    """What each place stands for in the copy of one value."""
    places = {"out": str(given.out)} | ({"data": str(given.data)} if given.data else {})
    return places | {
        name: str(stage.out) for name, row in made.items() for stage in row if stage.value in (value, None)
    }


def _joined(copies: Sequence[Table], name: str) -> Table:
    """A stage filled for every copy as one: the items of its lists, each once; all else must be the same in all.

    Raises:
        ConfigError: a field that is no list names the output of a copied stage.
    """
    first = copies[0]
    for field, value in first.items():
        if not isinstance(value, list) and any(copy[field] != value for copy in copies):
            raise ConfigError(f"stage {name}: {field} names several outputs", f'say {field} = ["..."], a list')
    return {
        field: list(dict.fromkeys(item for copy in copies for item in copy[field]))
        if isinstance(value, list) and len(copies) > 1
        else value
        for field, value in first.items()
    }


def _given_to_all(given: Run, kind: type[Config]) -> dict[str, Any]:
    values = {"seed": given.seed, "device": given.device}
    return {name: value for name, value in values.items() if value is not None and name in kind.model_fields}


def _configure(kind: type[Config], name: str, values: Table) -> Config:
    try:
        return config.load(kind, values)
    except ConfigError as error:
        raise ConfigError(f"stage {name}: {error.message}", error.hint) from error
