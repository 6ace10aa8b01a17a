"""A brief run of the kill test of `tools/kill`.

It runs in a separate process: a fork of this one would inherit the threads of torch.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY


@pytest.mark.slow
def test_two_kills_of_each_command_change_no_output():
    done = subprocess.run(
        [sys.executable, "-m", "tools.kill", "--kills", "2"],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split("|") for line in done.stdout.splitlines()[2:]]
    assert {int(cells[2]) for cells in rows} == {2}
    assert len(rows) == 6
