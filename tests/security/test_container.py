"""The container does not run as root."""

from __future__ import annotations

from pathlib import Path

DOCKERFILE = Path(__file__).parents[2] / "Dockerfile"


def test_the_entry_point_runs_as_an_unprivileged_user():
    lines = [line.split() for line in DOCKERFILE.read_text(encoding="utf-8").splitlines() if line.strip()]
    users = [words[1] for words in lines if words[0] == "USER"]
    assert users
    assert users[-1] not in ("root", "0", "0:0")
    instructions = [words[0] for words in lines]
    last_user = len(instructions) - 1 - instructions[::-1].index("USER")
    assert last_user < instructions.index("ENTRYPOINT")
    # after the switch to this user, nothing is installed or copied, and no instruction switches back
    assert not {"RUN", "COPY", "ADD"} & set(instructions[last_user:])
    created = next(" ".join(words) for words in lines if words[0] == "RUN" and "useradd" in words)
    assert f"useradd --create-home --uid 1000 {users[-1]}" in created
