"""kill -9 by hand: `python -m tests.fuzz.kills [--command NAME ...] [--kills 100] [--seed 1]`.

Each command is killed at random moments, up to four times before it is let run to its end. After each kill nothing
stands under the output's name, or all of it; after each whole run the output is the same as that of a run that nobody
disturbed, byte for byte where it is a table, and nothing else is left.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.fuzz.killed import Command, commands, digests, forked, prepare, serve, waited

_IN_A_ROW = 4
_PATIENCE = 30.0


@dataclass
class Toll:
    """What a series of kills came to.

    Attributes:
        kills: that met a living process.
        partial: after which an unfinished output was there.
        reruns: whole runs afterwards.
        faults: what should not be.
    """

    kills: int = 0
    partial: int = 0
    reruns: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)


def kill_often(command: Command, kills: int, rng: random.Random, scratch: Path) -> Toll:
    """Kill a command so many times."""
    toll = Toll()
    whole = scratch / "whole"
    whole.mkdir()
    began = time.perf_counter()
    waited(forked(partial(command.run, whole)))
    toll.seconds = time.perf_counter() - began
    expected = digests(whole)
    turn = 0
    while toll.kills < kills:
        turn += 1
        folder = scratch / f"turn{turn}"
        folder.mkdir()
        for _ in range(min(rng.randint(1, _IN_A_ROW), kills - toll.kills)):
            if not _killed(command, folder, rng.uniform(0, toll.seconds)):
                break
            toll.kills += 1
            toll.partial += any(".partial" in path.name for path in folder.iterdir())
            _check_half(command, folder, expected, toll)
            if (folder / command.out).exists():
                break
        if not (folder / command.out).exists():
            waited(forked(partial(command.run, folder)))
            toll.reruns += 1
        found = digests(folder)
        if found != expected:
            odd = sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))
            toll.faults.append(f"turn {turn}: not the same after a rerun: {', '.join(odd)}")
    return toll


def _killed(command: Command, folder: Path, seconds: float) -> bool:
    """Whether the kill met a living process."""
    child = forked(partial(command.run, folder))
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == -signal.SIGKILL


def _check_half(command: Command, folder: Path, expected: dict[str, str], toll: Toll) -> None:
    """What stands under the name of an output must be all of it."""
    if not (folder / command.out).exists():
        return
    found = digests(folder)
    there = {name for name in expected if name.startswith(command.out)}
    odd = sorted(name for name in there if found.get(name) != expected[name])
    if odd:
        toll.faults.append(f"a part of an output under its name: {', '.join(odd)}")


def run(names: list[str], kills: int, seed: int, scratch: Path) -> dict[str, Toll]:
    """Kill each of the commands so many times; by its name."""
    inputs, address = scratch / "inputs", scratch / "address"
    inputs.mkdir()
    os.environ["NO_PROXY"] = "127.0.0.1"
    os.environ.pop("NCBI_API_KEY", None)
    server = forked(partial(serve, address))
    try:
        prepare(inputs)
        until = time.monotonic() + _PATIENCE
        while not address.exists():
            assert time.monotonic() < until, "the test server does not start"
            time.sleep(0.01)
        known = commands(inputs, address.read_text(encoding="utf-8"))
        tolls = {}
        for name in names or list(known):
            place = scratch / name.replace(" ", "-")
            place.mkdir()
            tolls[name] = kill_often(known[name], kills, random.Random(f"{seed}/{name}"), place)
        return tolls
    finally:
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", nargs="*", default=[])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        tolls = run(options.command, options.kills, options.seed, Path(scratch))
    print("| command | kills | unfinished output left | whole runs after | undisturbed run (s) | faults |")
    print("|---|---|---|---|---|---|")
    for name, toll in tolls.items():
        cells = [name, toll.kills, toll.partial, toll.reruns, f"{toll.seconds:.1f}", len(toll.faults)]
        print("|", " | ".join(map(str, cells)), "|")
        for fault in toll.faults:
            print("   ", name, fault, file=sys.stderr)
    sys.exit(any(toll.faults for toll in tolls.values()))


if __name__ == "__main__":
    _main()
