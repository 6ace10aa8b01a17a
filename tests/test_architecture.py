"""The rooms of biorel and the arrows between them, checked against the imports.

A room is a subject: a folder of the package, or a single file next to the folders. `ROOMS` names for each room the
rooms that it uses. Every arrow points up the list.
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

from biorel.commands import COMMANDS

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
    "artifacts": {"errors", "counts"},
    "text": {"errors"},
    "formats": {"errors", "records", "counts", "schemas", "tables"},
    "config": {"errors", "formats"},
    "fetch": {"errors", "records", "counts", "tables", "formats"},
    "knowledge": {"errors", "records", "counts", "tables", "text", "formats"},
    "dataset": {"errors", "records", "counts", "tables", "resources", "artifacts", "text", "formats", "knowledge"},
    "model": {"errors"},
    "machine": {"errors", "model"},
    "scoring": {"errors", "records", "counts", "formats", "knowledge", "dataset"},
    "training": {
        "errors",
        "records",
        "counts",
        "tables",
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
# libraries that a room may not import, even inside a function
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
LARGEST_SHARE = 0.15
COMMAND_FILES = {command.module.removeprefix("biorel.commands."): command for command in COMMANDS.values()}

FILES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


def name_of(path: Path) -> str:
    """`formats.files` for biorel/formats/files.py, `formats` for the `__init__` of the room."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path) for path in FILES}


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports: at the top, inside a function, or for type annotations only."""
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full.removeprefix("biorel.") in MODULES else str(node.module)


def own_imports(path: Path) -> set[str]:
    """The imported modules of biorel, without the prefix."""
    return {name.removeprefix("biorel.") for name in imports(path) if name.startswith("biorel.")}


def files_of(room: str) -> list[Path]:
    return [path for path in FILES if name_of(path).split(".")[0] == room]


def lines_of(paths: list[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


# ---- rooms and arrows


def test_every_file_is_in_a_room():
    rooms = {name_of(path).split(".")[0] for path in FILES}
    assert rooms - {"", "__main__"} == set(ROOMS)


def test_every_arrow_points_up_the_list():
    order = list(ROOMS)
    wrong = {room: [used for used in uses if order.index(used) >= order.index(room)] for room, uses in ROOMS.items()}
    assert not {room: used for room, used in wrong.items() if used}


@pytest.mark.parametrize("room", ROOMS)
def test_files_import_only_the_rooms_that_their_room_uses(room):
    allowed = ROOMS[room] | {room}
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {module}"
        for path in files_of(room)
        for module in own_imports(path)
        if module.split(".")[0] not in allowed
    ]
    assert not wrong


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_lists_no_arrow_that_it_does_not_need(room):
    used = {module.split(".")[0] for path in files_of(room) for module in own_imports(path)}
    assert ROOMS[room] <= used


def test_only_commands_and_the_command_line_import_the_options():
    users = {
        name_of(path).split(".")[0]
        for path in FILES
        if any(module.split(".")[0] == "config" for module in own_imports(path))
    }
    assert users <= {"config", "commands", "cli"}


def test_no_files_import_each_other_in_a_circle():
    graph = {name_of(path): own_imports(path) - {name_of(path)} for path in FILES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"files import each other in a circle: {' -> '.join(error.args[1])}")


@pytest.mark.parametrize("room", FORBIDDEN)
def test_a_room_does_not_import_a_forbidden_library(room):
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {module}"
        for path in files_of(room)
        for module in imports(path)
        if module.split(".")[0] in FORBIDDEN[room]
    ]
    assert not wrong


def test_no_room_holds_more_than_its_share_of_the_lines():
    total = lines_of(FILES)
    shares = {room: lines_of(files_of(room)) / total for room in ROOMS}
    assert not {room: round(share, 3) for room, share in shares.items() if share > LARGEST_SHARE}


# ---- commands


def test_every_file_in_commands_is_a_command_of_the_table():
    assert {path.stem for path in files_of("commands")} - {"__init__"} == set(COMMAND_FILES)


def test_a_command_does_not_import_another_command():
    modules = {f"commands.{name}" for name in COMMAND_FILES}
    assert not {path.name: found for path in files_of("commands") if (found := own_imports(path) & modules)}


@pytest.mark.parametrize("name", COMMAND_FILES)
def test_a_command_has_one_public_function_with_the_common_signature(name):
    tree = TREES[PACKAGE / "commands" / f"{name}.py"]
    public = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    assert [node.name for node in public] == ["run"]
    arguments = ast.unparse(public[0].args)
    kind = COMMAND_FILES[name].config_class.__name__
    assert arguments == f"config: {kind}, progress: Progress=SILENT"
    assert public[0].returns is not None
    assert ast.unparse(public[0].returns) == "Artifact"


@pytest.mark.parametrize("name", COMMAND_FILES)
def test_the_options_of_a_command_are_in_the_file_of_the_same_name(name):
    assert COMMAND_FILES[name].config_class.__module__ == f"biorel.config.{name}"


def test_help_loads_no_heavy_library():
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


# ---- files


def test_every_file_has_a_docstring():
    filled = [path for path in FILES if TREES[path].body]
    assert not [str(path.relative_to(PACKAGE)) for path in filled if not ast.get_docstring(TREES[path])]


def test_no_file_is_a_collection_of_leftovers():
    names = {part for path in FILES for part in path.relative_to(PACKAGE).with_suffix("").parts}
    assert not names & {"utils", "util", "helpers", "helper", "common", "misc"}


# ---- unsafe code


def _unsafe(node: ast.AST) -> str:
    """Why a piece of code is unsafe; empty if it is not."""
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


def test_no_file_runs_code_that_it_reads_or_swallows_errors():
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
def test_the_check_for_unsafe_code_finds_unsafe_code(code):
    assert any(_unsafe(node) for node in ast.walk(ast.parse(code)))
