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
from biorel.formats.files import open_bytes

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


# of one child of the root, in bytes; an article with thousands of authors has some three million
LARGEST_CHILD = 2**24
MOST_TAGS = 1_000_000  # in one child, those that end an element among them
MOST_ATTRIBUTES = 1000
_HINT = "is this the right file?"


class Meter:
    """A stream of XML, watched.

    Attributes:
        since_child: bytes read since the last child of the root ended.
    """

    def __init__(self, stream: IO[bytes], place: str) -> None:
        self.since_child = 0
        self._stream = stream
        self._place = place
        self._equals = 0
        self._tags = 0

    def child_ended(self) -> None:
        """Tell that a child of the root has ended: the next one has its own room."""
        self.since_child = self._tags = 0

    def read(self, size: int) -> bytes:
        """The next bytes.

        Raises:
            InputError: a record of more than `LARGEST_CHILD` bytes or `MOST_TAGS`, or a tag of more than
                `MOST_ATTRIBUTES`.
        """
        content = self._stream.read(size)
        self.since_child += len(content)
        if self.since_child > LARGEST_CHILD:
            raise InputError(f"{self._place}: one record has more than {LARGEST_CHILD / 2**20:.0f} MiB", _HINT)
        self._tags += content.count(b"<")
        if self._tags > MOST_TAGS:
            raise InputError(f"{self._place}: one record has more than {MOST_TAGS} tags", _HINT)
        # a tag begins at each `<`, which no attribute may hold, and its attributes have an equals sign each
        first, *tags = content.split(b"<")
        counts = [self._equals + first.count(b"="), *(tag.count(b"=") for tag in tags)]
        if max(counts) > MOST_ATTRIBUTES:
            raise InputError(f"{self._place}: a tag of more than {MOST_ATTRIBUTES} attributes", _HINT)
        self._equals = counts[-1]
        return content
