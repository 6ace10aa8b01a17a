"""The kill test: commands ended by `kill -9` at random moments, and a table of what happened.

Each command is killed up to four times in a row and then runs to completion. After each kill its output is absent or
complete. After each complete run the output equals that of an undisturbed run, and no other file is left. The exit
code is 1 if this does not hold.
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

from tools.kill.commands import Command, commands, digests, fork, prepare, serve, wait

_MAX_IN_A_ROW = 4
_SERVER_TIMEOUT = 30.0  # seconds


@dataclass
class Tally:
    """The results of the kills of one command.

    Attributes:
        kills: that ended a running process.
        partial: kills that left an unfinished output.
        reruns: complete runs afterwards.
        seconds: of an undisturbed run.
        faults: descriptions of wrong outputs.
    """

    kills: int = 0
    partial: int = 0
    reruns: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)


def kill_often(command: Command, kills: int, rng: random.Random, scratch: Path) -> Tally:
    """Kill a command this many times, with complete runs in between."""
    tally = Tally()
    undisturbed = scratch / "whole"
    undisturbed.mkdir()
    began = time.perf_counter()
    wait(fork(partial(command.run, undisturbed)))
    tally.seconds = time.perf_counter() - began
    expected = digests(undisturbed)
    turn = 0
    while tally.kills < kills:
        turn += 1
        folder = scratch / f"turn{turn}"
        folder.mkdir()
        for _ in range(min(rng.randint(1, _MAX_IN_A_ROW), kills - tally.kills)):
            if not _kill(command, folder, rng.uniform(0, tally.seconds)):
                break
            tally.kills += 1
            tally.partial += any(".partial" in path.name for path in folder.iterdir())
            _check_output(command, folder, expected, tally)
            if (folder / command.out).exists():
                break
        if not (folder / command.out).exists():
            wait(fork(partial(command.run, folder)))
            tally.reruns += 1
        actual = digests(folder)
        if actual != expected:
            differing = sorted(name for name in {*actual, *expected} if actual.get(name) != expected.get(name))
            tally.faults.append(f"turn {turn}: different after a rerun: {', '.join(differing)}")
    return tally


def _kill(command: Command, folder: Path, seconds: float) -> bool:
    """Run the command and kill it after some seconds; False if it had ended before."""
    child = fork(partial(command.run, folder))
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == -signal.SIGKILL


def _check_output(command: Command, folder: Path, expected: dict[str, str], tally: Tally) -> None:
    """Note a fault if there is an incomplete output under its final name."""
    if not (folder / command.out).exists():
        return
    actual = digests(folder)
    output = {name for name in expected if name.startswith(command.out)}
    differing = sorted(name for name in output if actual.get(name) != expected[name])
    if differing:
        tally.faults.append(f"incomplete output under its final name: {', '.join(differing)}")


def run(names: list[str], kills: int, seed: int, scratch: Path) -> dict[str, Tally]:
    """Kill each of these commands (all, if the list is empty); returns the results by command name."""
    inputs, address = scratch / "inputs", scratch / "address"
    inputs.mkdir()
    os.environ["NO_PROXY"] = "127.0.0.1"
    os.environ.pop("NCBI_API_KEY", None)
    server = fork(partial(serve, address))
    try:
        prepare(inputs)
        deadline = time.monotonic() + _SERVER_TIMEOUT
        while not address.exists():
            assert time.monotonic() < deadline, "the test server does not start"
            time.sleep(0.01)
        known = commands(inputs, address.read_text(encoding="utf-8"))
        tallies = {}
        for name in names or list(known):
            folder = scratch / name.replace(" ", "-")
            folder.mkdir()
            tallies[name] = kill_often(known[name], kills, random.Random(f"{seed}/{name}"), folder)
        return tallies
    finally:
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)


def main() -> None:
    """Parse the options, run the commands, print the table and exit."""
    parser = argparse.ArgumentParser(prog="python -m tools.kill", description=__doc__)
    parser.add_argument("--command", nargs="*", default=[], help='such as train or "fetch ctd"; default: all')
    parser.add_argument("--kills", type=int, default=100, help="for each command")
    parser.add_argument("--seed", type=int, default=1, help="of the moments of the kills")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        tallies = run(options.command, options.kills, options.seed, Path(scratch))
    print("| command | kills | unfinished output left | complete reruns | undisturbed run (s) | faults |")
    print("|---|---|---|---|---|---|")
    for name, tally in tallies.items():
        cells = [name, tally.kills, tally.partial, tally.reruns, f"{tally.seconds:.1f}", len(tally.faults)]
        print("|", " | ".join(map(str, cells)), "|")
        for fault in tally.faults:
            print("   ", name, fault, file=sys.stderr)
    sys.exit(any(tally.faults for tally in tallies.values()))
