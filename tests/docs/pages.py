"""The pages of the documentation and the code blocks in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PAGES = (
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    REPOSITORY / "RESULTS.md",
    *sorted((REPOSITORY / "docs").glob("*.md")),
    *sorted((REPOSITORY / "docs" / "guide").glob("*.md")),
)
# The first line of a block that the tests cannot run says what it needs.
_NEEDS = re.compile(r"# needs (.+)")
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced code block; `needs` is empty if the tests can run it."""

    language: str
    text: str
    needs: str

    @property
    def commands(self) -> list[list[str]]:
        """The commands of a shell block as lists of words, split at line ends and `&&`."""
        lines = [line for line in self.text.replace("\\\n", " ").splitlines() if not line.startswith("#")]
        return [shlex.split(part, comments=True) for line in lines for part in line.split(" && ") if part.strip()]


def blocks(page: Path, *languages: str) -> list[Block]:
    """The code blocks of a page in these languages, in order."""
    return [block for block in _all(page) if block.language in languages]


def _all(page: Path) -> Iterator[Block]:
    for language, text in _FENCE.findall(page.read_text(encoding="utf-8")):
        needs = _NEEDS.match(text)
        yield Block(language, text, needs[1] if needs else "")


def biorel_arguments(words: list[str]) -> list[str] | None:
    """The arguments of a biorel command, also of one in a container; None for another program."""
    for number, word in enumerate(words):
        if word == "biorel" or word.endswith("/biorel"):
            return words[number + 1 :] if words[0] in (word, "docker") and words[-1] != "." else None
    return None


def page_name(page: Path) -> str:
    """The path of a page below the repository, for the names of tests."""
    return str(page.relative_to(REPOSITORY))
