"""Outputs appear whole or not at all, even with several writers or after a kill."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from biorel import artifacts
from biorel.errors import OutputError
from tests.holding import held_elsewhere


def write(out: Path, content: str, *, force: bool = False) -> None:
    with artifacts.folder("fetch mesh", {"out": out}, out, force=force) as output:
        (output.path / "file").write_text(content, encoding="utf-8")


def test_two_processes_do_not_write_the_same_folder(tmp_path):
    out = tmp_path / "out"
    partial = out.with_name("out.partial")
    with held_elsewhere(out):
        partial.mkdir()
        (partial / "theirs").touch()
        with pytest.raises(OutputError, match="another process is writing it"):
            write(out, "ours")
        assert (partial / "theirs").exists()
    write(out, "ours")
    assert (out / "file").read_text(encoding="utf-8") == "ours"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_two_processes_do_not_write_the_same_file(tmp_path):
    out = tmp_path / "out.jsonl"
    out.with_name("out.jsonl.partial").write_text("theirs", encoding="utf-8")
    with (
        held_elsewhere(out),
        pytest.raises(OutputError, match="another process is writing it"),
        artifacts.whole_file(out) as place,
    ):
        place.write_text("ours", encoding="utf-8")
    assert out.with_name("out.jsonl.partial").read_text(encoding="utf-8") == "theirs"


def test_does_not_replace_a_folder_that_another_process_finished_meanwhile(tmp_path, monkeypatch):
    out = tmp_path / "out"
    real = artifacts.sole_writer

    def after_another(path):
        monkeypatch.setattr(artifacts, "sole_writer", real)
        write(out, "theirs")
        return real(path)

    monkeypatch.setattr(artifacts, "sole_writer", after_another)
    with pytest.raises(OutputError, match="exists already"):
        write(out, "ours")
    assert (out / "file").read_text(encoding="utf-8") == "theirs"


@pytest.mark.parametrize("moves", [0, 1, 2, 3])
def test_a_kill_during_a_replacement_leaves_a_whole_folder_or_one_to_restore(tmp_path, moves):
    """A replacement moves the old folder aside, moves the new one into place, and removes the old one."""
    out = tmp_path / "out"
    write(out, "old")
    child = os.fork()
    if not child:
        _die_after(moves)
        write(out, "new", force=True)
        os._exit(0)
    os.waitpid(child, 0)
    found = {path.name: sorted(item.name for item in path.iterdir()) for path in tmp_path.iterdir() if path.is_dir()}
    assert found.get("out", ["file", "manifest.json"]) == ["file", "manifest.json"]
    if moves == 1:
        assert "out" not in found
        with pytest.raises(OutputError, match="exists already"):
            write(out, "newer")
        assert (out / "file").read_text(encoding="utf-8") == "old"
    write(out, "newer", force=True)
    assert (out / "file").read_text(encoding="utf-8") == "newer"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def _die_after(moves: int) -> None:
    """End this process abruptly after `moves` folders have been moved or removed."""
    left = [moves]

    def counted(move):
        def call(*arguments, **options):
            if not left[0]:
                os._exit(9)
            left[0] -= 1
            return move(*arguments, **options)

        return call

    Path.rename = counted(Path.rename)  # type: ignore[method-assign]
    shutil.rmtree = counted(shutil.rmtree)


def test_rejects_a_folder_as_an_output_file(tmp_path):
    with pytest.raises(OutputError, match="is a folder"), artifacts.whole_file(tmp_path):
        pytest.fail("nothing can be written there")


def test_replaces_a_file_only_with_force(tmp_path):
    out = tmp_path / "out.txt"
    out.write_text("old", encoding="utf-8")
    with pytest.raises(OutputError, match=r"out\.txt: exists already"), artifacts.whole_file(out):
        pytest.fail("the file exists")
    assert out.read_text(encoding="utf-8") == "old"
    with artifacts.whole_file(out, force=True) as path:
        path.write_text("new", encoding="utf-8")
    assert out.read_text(encoding="utf-8") == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_rejects_a_file_as_an_output_folder(tmp_path):
    out = tmp_path / "out"
    out.write_text("a file", encoding="utf-8")
    with pytest.raises(OutputError, match="is a file"):
        write(out, "new", force=True)
    assert out.read_text(encoding="utf-8") == "a file"


def test_never_replaces_an_input(tmp_path):
    with pytest.raises(OutputError, match="is an input"):
        artifacts.check_output(tmp_path / "a", force=True, inputs=[tmp_path / "b", tmp_path / "a"])
