"""The rooms of biorel and the arrows between them, read from the imports.

A room is a subject: a folder, or a single file beside them. `ROOMS` lists them so that every import points to a room
further up the list, and names for each room the rooms that it uses. An entry such as `training.loop` allows one file
of a room only.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from biorel.commands import COMMANDS as TABLE

PACKAGE = Path(__file__).parents[1] / "biorel"
ROOMS: dict[str, set[str]] = {
    "errors": set(),
    "records": set(),
    "reasons": set(),
    "counts": {"errors", "reasons"},
    "schemas": {"records"},
    "progress": set(),
    "tables": {"errors", "schemas"},
    "resources": {"errors"},
    "config": {"errors"},
    "artifacts": {"errors", "counts"},
    "text": {"errors"},
    "formats": {"errors", "records", "counts", "schemas", "tables"},
    "fetch": {"errors", "records", "counts", "tables", "formats"},
    "knowledge": {"errors", "records", "counts", "text", "formats"},
    "dataset": {"errors", "records", "counts", "resources", "artifacts", "text", "formats", "knowledge"},
    "model": {"errors"},
    "machine": {"errors", "model"},
    "scoring": {"errors", "records", "counts", "config", "artifacts", "formats", "knowledge", "dataset"},
    "training": {
        "errors",
        "records",
        "counts",
        "tables",
        "config",
        "progress",
        "artifacts",
        "text",
        "formats",
        "knowledge",
        "dataset",
        "model",
        "scoring",
    },
    "linking": {"errors", "records", "counts", "tables", "text", "knowledge"},
    "ner": {"errors", "records", "counts", "text", "formats", "dataset", "model", "training", "linking"},
    "extraction": {
        "errors",
        "records",
        "counts",
        "resources",
        "artifacts",
        "formats",
        "knowledge",
        "dataset",
        "model",
        "scoring",
        "training",
        "linking",
        "ner",
    },
    "qa": {
        "errors",
        "records",
        "counts",
        "tables",
        "progress",
        "artifacts",
        "text",
        "formats",
        "dataset",
        "model",
        "scoring",
        "training",
    },
    "pipeline": {"errors", "resources", "artifacts", "scoring"},
    "commands": {
        "errors",
        "records",
        "counts",
        "schemas",
        "tables",
        "resources",
        "config",
        "progress",
        "artifacts",
        "text",
        "formats",
        "fetch",
        "knowledge",
        "dataset",
        "machine",
        "model",
        "scoring",
        "training",
        "linking",
        "ner",
        "extraction",
        "qa",
        "pipeline",
    },
    "cli": {"errors", "progress", "config", "artifacts", "commands"},
}
# what a room may not import from outside, whatever it needs
FORBIDDEN = {
    "formats": {"torch", "spacy", "tokenizers"},
    "fetch": {"torch", "spacy", "tokenizers", "pandas"},
    "model": {"pyarrow", "pandas", "pydantic", "typer", "rich", "tokenizers", "tomllib"},
    "dataset": {"torch", "pandas"},
    "scoring": {"torch"},
    "config": {"torch", "pyarrow", "pandas", "typer"},
    "cli": {"torch", "pyarrow", "pandas", "numpy"},
}
HEAVY = (
    *("torch", "spacy", "pandas", "matplotlib", "sklearn", "pyarrow", "tokenizers", "numpy", "tensorboard", "bioc"),
    "transformers",
)
MOST_LINES = 450
COMMANDS = tuple(command.module.rpartition(".")[2] for command in TABLE.values())

FILES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


def name_of(path: Path) -> str:
    """`formats.files` for biorel/sources/files.py, `sources` for the room's `__init__`."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path) for path in FILES}


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, at its top, within a function or for its types alone."""
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full.removeprefix("biorel.") in MODULES else str(node.module)


def own_imports(path: Path) -> set[str]:
    """The modules of biorel among them, without the prefix; `__version__` of the package itself is none."""
    return {name.removeprefix("biorel.") for name in imports(path) if name.startswith("biorel.")}


def of_room(room: str) -> list[Path]:
    return [path for path in FILES if name_of(path).split(".")[0] == room]


def test_every_file_stands_in_a_room():
    rooms = {name_of(path).split(".")[0] for path in FILES}
    assert rooms - {"", "__main__"} == set(ROOMS)


def test_a_room_needs_only_rooms_above_it():
    order = list(ROOMS)
    below = {
        room: [needed for needed in needs if order.index(needed.split(".")[0]) >= order.index(room)]
        for room, needs in ROOMS.items()
    }
    assert not {room: needed for room, needed in below.items() if needed}


@pytest.mark.parametrize("room", ROOMS)
def test_a_file_imports_only_what_its_room_needs(room):
    allowed = ROOMS[room] | {room}
    astray = [
        f"{path.relative_to(PACKAGE)} imports {module}"
        for path in of_room(room)
        for module in own_imports(path)
        if module not in allowed and module.split(".")[0] not in allowed
    ]
    assert not astray


@pytest.mark.parametrize("room", sorted(set(ROOMS)))
def test_a_room_lists_nothing_that_it_does_not_need(room):
    used = {module for path in of_room(room) for module in own_imports(path)}
    used |= {module.split(".")[0] for module in used}
    assert ROOMS[room] <= used


def test_no_file_imports_itself_through_others():
    graph = {name_of(path): own_imports(path) - {name_of(path)} for path in FILES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"files import each other in a circle: {' -> '.join(error.args[1])}")


@pytest.mark.parametrize("room", FORBIDDEN)
def test_a_room_is_free_of_what_is_not_its_business(room):
    astray = [
        f"{path.relative_to(PACKAGE)} imports {module}"
        for path in of_room(room)
        for module in imports(path)
        if module.split(".")[0] in FORBIDDEN[room]
    ]
    assert not astray


def test_a_command_does_not_import_another_command():
    """Only `run` does; what two commands share stands in a file of its own."""
    commands = {f"commands.{name}" for name in COMMANDS}
    files = [path for path in of_room("commands") if path.stem != "run"]
    assert not {path.name: found for path in files if (found := own_imports(path) & commands)}


def test_every_command_has_a_file_with_one_run():
    for name in COMMANDS:
        tree = TREES[PACKAGE / "commands" / f"{name}.py"]
        public = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
        assert [node.name for node in public] == ["run"], name
        assert public[0].args.args[0].annotation is not None


def test_help_loads_no_library_that_a_command_may_not_need():
    code = (
        "import sys, biorel.cli.app as app\n"
        "sys.argv = ['biorel', '--help']\n"
        "try: app.main()\n"
        "except SystemExit: pass\n"
        f"print('LOADED', *(name for name in {HEAVY!r} if name in sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ), check=True, timeout=60
    )
    assert "build-dataset" in done.stdout
    assert done.stdout.splitlines()[-1] == "LOADED"


def test_no_file_is_longer_than_a_reader_can_hold():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    too_long = {str(path.relative_to(PACKAGE)): length for path, length in lengths.items() if length > MOST_LINES}
    assert not too_long


def test_every_file_says_what_it_is_for():
    filled = [path for path in FILES if TREES[path].body]
    assert not [str(path.relative_to(PACKAGE)) for path in filled if not ast.get_docstring(TREES[path])]


def test_no_file_is_a_drawer_for_odds_and_ends():
    names = {part for path in FILES for part in path.relative_to(PACKAGE).with_suffix("").parts}
    assert not names & {"utils", "util", "helpers", "helper", "common", "misc"}


def _unsafe(node: ast.AST) -> str:
    """What is wrong with a piece of code, empty where nothing is."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
        found = {name.split(".")[0] for name in names} & {"pickle", "cPickle", "dill", "joblib", "marshal", "shelve"}
        return f"imports {found.pop()}" if found else ""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec", "compile"):
            return f"calls {node.func.id}"
        if ast.unparse(node.func) in ("torch.load", "os.system", "yaml.load", "np.load", "numpy.load"):
            return f"calls {ast.unparse(node.func)}"
        if any(keyword.arg == "shell" and ast.unparse(keyword.value) != "False" for keyword in node.keywords):
            return "starts a shell"
    if isinstance(node, ast.ExceptHandler):
        broad = node.type is None or ast.unparse(node.type) in ("Exception", "BaseException")
        if broad and not any(isinstance(inner, ast.Raise | ast.Call) for inner in ast.walk(node)):
            return "swallows every error"
    return ""


def test_nothing_runs_what_it_reads_and_no_error_is_swallowed():
    faults = [
        f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)} {fault}"
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if (fault := _unsafe(node))
    ]
    assert not faults


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from pickle import load",
        "eval(text)",
        "torch.load(path)",
        "subprocess.run(command, shell=True)",
        "try:\n    work()\nexcept Exception:\n    pass",
        "try:\n    work()\nexcept:\n    result = None",
    ],
)
def test_the_check_for_unsafe_code_finds_it(code):
    assert any(_unsafe(node) for node in ast.walk(ast.parse(code)))
