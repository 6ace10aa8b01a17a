"""The container does not run as root."""

from __future__ import annotations

from pathlib import Path

DOCKERFILE = Path(__file__).parents[2] / "Dockerfile"


def test_the_entry_point_runs_as_a_user_without_rights():
    lines = [line.split() for line in DOCKERFILE.read_text(encoding="utf-8").splitlines() if line.strip()]
    users = [words[1] for words in lines if words[0] == "USER"]
    assert users
    assert users[-1] not in ("root", "0", "0:0")
    instructions = [words[0] for words in lines]
    last_user = len(instructions) - 1 - instructions[::-1].index("USER")
    assert last_user < instructions.index("ENTRYPOINT")
    # nothing is installed or changed after the rights are given up, and no rights come back
    assert not {"RUN", "COPY", "ADD"} & set(instructions[last_user:])
    made = next(" ".join(words) for words in lines if words[0] == "RUN" and "useradd" in words)
    assert f"useradd --create-home --uid 1000 {users[-1]}" in made
