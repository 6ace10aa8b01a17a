"""The design page agrees with the package: its rooms, and the files it names."""

from __future__ import annotations

import re

from tests.docs.pages import PAGES, REPOSITORY
from tests.test_architecture import ROOMS

DESIGN = (REPOSITORY / "docs" / "design.md").read_text(encoding="utf-8")


def section(name: str) -> str:
    """The lines between two comments `<!-- name -->` and `<!-- /name -->`."""
    return DESIGN.partition(f"<!-- {name} -->")[2].partition(f"<!-- /{name} -->")[0]


def test_the_rooms_are_those_of_the_architecture_test() -> None:
    named = re.findall(r"^\| `([a-z_]+)` \|", section("rooms"), re.MULTILINE)
    assert named == list(ROOMS)


def test_every_file_named_for_an_equation_exists() -> None:
    files = re.findall(r"`(biorel/[\w/]+\.py)`", section("equations"))
    assert len(files) >= 20
    assert not [file for file in files if not (REPOSITORY / file).is_file()]


def test_every_path_that_a_page_names_exists() -> None:
    path = re.compile(r"`((?:biorel|docs|pipelines|resources|tests|tools)/[\w./-]*\w/?)`")
    for page in PAGES:
        for name in path.findall(page.read_text(encoding="utf-8")):
            assert (REPOSITORY / name).exists(), f"{page.name} names {name}"
