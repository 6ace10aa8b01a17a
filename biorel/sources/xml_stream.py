"""XML read as a stream, and safely: nothing outside the file is opened, nothing inside it can explode.

A DOCTYPE is allowed, as BioC, MeSH and PubMed files have one, but the DTD that it names is never loaded.
An entity that the file defines for itself stays a reference and is not expanded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Any

from lxml import etree

from biorel.errors import InputError
from biorel.sources.files import open_bytes
from biorel.sources.xml_meter import Meter

_SHOWN = 120
_SAFE = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}


def read_elements(path: Path, expected: str, roots: Collection[str], children: Collection[str]) -> Iterator[Any]:
    """Yield the root's children with these tags, each whole, one at a time; memory holds one.

    Args:
        path: the file, plain or gzip.
        expected: what the format is called, for the message.
        roots: the tags that the root may have.
        children: the tags to yield; others are passed over.

    Raises:
        InputError: the file cannot be read, is not well-formed XML, or has another root.
    """
    with open_bytes(path) as stream:
        yield from stream_elements(stream, str(path), expected, roots, children)


def stream_elements(
    stream: IO[bytes], place: str, expected: str, roots: Collection[str], children: Collection[str]
) -> Iterator[Any]:
    """As `read_elements`, of an open stream; `place` names it in messages.

    Raises:
        InputError: what comes is not well-formed XML, has another root, or a record without end.
    """
    root: Any = None
    metered = Meter(stream, place)
    try:
        for event, element in etree.iterparse(metered, events=("start", "end"), **_SAFE):
            if root is None:
                root = element
                _check_root(place, root.tag, expected, roots)
            elif event == "end" and element.getparent() is root:
                if element.tag in children:
                    yield element
                metered.child_ended()
                # what was read is let go, the element before it too, as that one's tail came later
                element.clear()
                while element.getprevious() is not None:
                    del root[0]
    except etree.XMLSyntaxError as error:
        # libxml2's message may run over several lines, and quote long names
        message = (error.msg or "broken off").partition("\n")[0][:_SHOWN]
        raise InputError(f"{place}: not well-formed XML ({message})", "fetch the file again") from error


def text_of(element: Any) -> str:
    """All text inside an element, that of inline tags such as `<sub>` with it."""
    return "".join(element.itertext())


def _check_root(place: str, found: str, expected: str, roots: Collection[str]) -> None:
    if found not in roots:
        wanted = " or ".join(f"<{root}>" for root in roots)
        raise InputError(
            f"{place}: root element <{found[:_SHOWN]}> where {wanted} ({expected}) was expected",
            "is this the right file, and the right format?",
        )
