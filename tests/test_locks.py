"""The lock of an output works between processes."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import time

import pytest

from biorel.artifacts import sole_writer
from biorel.errors import OutputError
from tests.holding import held_elsewhere


def test_a_second_process_gets_an_error_and_leaves_the_lock_in_place(tmp_path):
    out = tmp_path / "out"
    with held_elsewhere(out):
        with pytest.raises(OutputError, match=r"out: another process is writing it"), sole_writer(out):
            pytest.fail("two processes hold one lock")
        assert out.with_name("out.lock").exists()
    with sole_writer(out):
        assert out.with_name("out.lock").exists()
    assert not list(tmp_path.iterdir())


def test_a_killed_process_leaves_no_lock_behind(tmp_path):
    out = tmp_path / "out"
    with held_elsewhere(out) as process:
        process.kill()
        process.wait()
        assert out.with_name("out.lock").exists()
        with sole_writer(out):
            pass
    assert not list(tmp_path.iterdir())


def test_a_worker_that_outlives_its_parent_does_not_hold_the_lock(tmp_path):
    """Workers of spaCy keep waiting on a pipe after their parent was killed."""
    out = tmp_path / "out"
    reader, writer = os.pipe()
    parent = os.fork()
    if not parent:
        with sole_writer(out):
            worker = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
            worker.start()
            os.write(writer, str(worker.pid).encode())
            time.sleep(60)
    orphan = int(os.read(reader, 20))
    os.kill(parent, 9)
    os.waitpid(parent, 0)
    try:
        with sole_writer(out):
            os.kill(orphan, 0)  # it lives still
    finally:
        os.kill(orphan, 9)


def test_does_not_lock_a_file_that_was_removed_meanwhile(tmp_path, monkeypatch):
    out, path = tmp_path / "out", tmp_path / "out.lock"
    real, removed = fcntl.lockf, []

    def lockf(stream, how):
        if not removed:
            removed.append(True)
            path.unlink()
        real(stream, how)

    monkeypatch.setattr("biorel.artifacts.fcntl.lockf", lockf)
    with sole_writer(out):
        assert path.exists()
        with pytest.raises(AssertionError), held_elsewhere(out):
            pytest.fail("two processes hold one lock")
