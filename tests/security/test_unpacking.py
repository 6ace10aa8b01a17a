"""No member of an archive is unpacked outside the target folder."""

from __future__ import annotations

import ast
import zipfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biorel.errors import InputError
from biorel.fetch.archives import unpack

PACKAGE = Path(__file__).parents[2] / "biorel"
PARTS = st.sampled_from(["..", ".", "", "a", "b.zip", "~", "C:", "\\", "..\\", "/", "etc", " ", "\u2025", "con", "..a"])
NAMES = st.lists(PARTS, min_size=1, max_size=5).map("/".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(NAMES, st.integers(0, 2**32 - 1)), min_size=1, max_size=4, unique_by=lambda item: item[0]))
def test_no_member_name_escapes_the_folder(tmp_path_factory, members):
    root = tmp_path_factory.mktemp("root")
    with zipfile.ZipFile(root / "a.zip", "w") as archive:
        for name, attributes in members:
            member = zipfile.ZipInfo("placeholder")
            member.filename, member.external_attr = name, attributes
            archive.writestr(member, b"content")
    try:
        files = unpack(root / "a.zip", root / "deep" / "out")
    except InputError:
        files = []
    outside = [path for path in root.rglob("*") if path.is_file() and root / "deep" / "out" not in path.parents]
    assert outside == [root / "a.zip"]
    assert all(path.is_file() and not path.is_symlink() for path in files)


def test_only_one_module_unpacks_archives():
    ways = ("tarfile", "zipfile", "unpack_archive", "extractall", "py7zr", "rarfile")
    found = {
        path.name
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Attribute)
        if any(way in ast.unparse(node) for way in ways)
    }
    assert found == {"archives.py"}
