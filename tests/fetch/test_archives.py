"""Zip archives are unpacked completely or rejected."""

from __future__ import annotations

import io
import stat
import zipfile

import pytest

from biorel.errors import InputError
from biorel.fetch.archives import unpack
from tests.servers import PAGE


def archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in members:
            out.writestr(name, content)
    return path


def test_unpacks_archives_in_archives(tmp_path):
    inner = archive(tmp_path / "inner.zip", [("set/rows.tsv", "1\n"), ("__MACOSX/._x", "")]).read_bytes()
    outer = archive(tmp_path / "outer.zip", [("C/inner.zip", inner), ("C/readme.txt", "hi"), ("C/.DS_Store", "")])
    out = tmp_path / "out"
    files = unpack(outer, out)
    assert [str(path.relative_to(out)) for path in files] == ["C/readme.txt", "C/set/rows.tsv"]
    assert files[1].read_text() == "1\n"


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/x", "C:\\x", "a\\..\\x"])
def test_rejects_paths_outside_the_folder(tmp_path, name):
    member = zipfile.ZipInfo("placeholder")
    member.filename = name
    path = archive(tmp_path / "a.zip", [(member, "1")])
    with pytest.raises(InputError, match="leads outside"):
        unpack(path, tmp_path / "out")
    assert not (tmp_path / "x").exists()


def test_rejects_links_bombs_and_repeated_names(tmp_path):
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(InputError, match="is a link"):
        unpack(archive(tmp_path / "link.zip", [(link, "/etc/passwd")]), tmp_path / "a")
    bomb = archive(tmp_path / "bomb.zip", [("zeros", b"\0" * 3_000_000)])
    with pytest.raises(InputError, match="more bytes"):
        unpack(bomb, tmp_path / "b", max_bytes=1_000_000)
    with pytest.raises(InputError, match="more files"):
        unpack(archive(tmp_path / "many.zip", [("a", ""), ("b", "")]), tmp_path / "c", max_files=1)
    twice = tmp_path / "twice.zip"
    with pytest.warns(UserWarning, match="Duplicate"):
        archive(twice, [("a", "1"), ("a", "2")])
    with pytest.raises(InputError, match="two files"):
        unpack(twice, tmp_path / "d")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", PAGE])
def test_rejects_a_file_that_is_not_an_archive(tmp_path, content):
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(InputError, match="damaged or not a zip archive"):
        unpack(tmp_path / "a.zip", tmp_path / "out")


def test_rejects_a_damaged_member(tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as out:
        out.writestr("a", "some text")
    (tmp_path / "a.zip").write_bytes(stream.getvalue().replace(b"some", b"same"))
    with pytest.raises(InputError, match="damaged or not a zip archive"):
        unpack(tmp_path / "a.zip", tmp_path / "out")
