"""Read XML as a stream. No other file is opened, and the use of memory is bounded.

A DOCTYPE is allowed, because BioC, MeSH and PubMed files have one, but its DTD is never loaded. Entities that the file
defines are not expanded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Any

from lxml import etree

from biorel.errors import InputError
from biorel.formats.files import open_bytes

# of one child of the root, in bytes; an article with thousands of authors has some three million
LARGEST_CHILD = 2**24
MOST_TAGS = 1_000_000  # in one child of the root, end tags included
MOST_ATTRIBUTES = 1000
_HINT = "check that this is the right file"
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
    """Yield the children of the root element that have the given tags. Memory holds one at a time.

    Args:
        path: the file, plain or gzip.
        expected: the name of the format, for messages.
        roots: the tags allowed for the root.
        children: the tags to yield; other children are skipped.

    Raises:
        InputError: the file cannot be read, is not well-formed XML, or has another root.
    """
    with open_bytes(path) as stream:
        yield from stream_elements(stream, str(path), expected, roots, children)


def stream_elements(
    stream: IO[bytes], place: str, expected: str, roots: Collection[str], children: Collection[str]
) -> Iterator[Any]:
    """Yield elements of an open stream, as `read_elements` does. `place` is the name of the stream in messages.

    Raises:
        InputError: the content is not well-formed XML, has another root, or a record exceeds the limits of `Meter`.
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
                # free what was read, and the element before it, whose tail was read later
                element.clear()
                while element.getprevious() is not None:
                    del root[0]
    except etree.XMLSyntaxError as error:
        # the message of libxml2 may have several lines and quote long names
        message = (error.msg or "broken off").partition("\n")[0][:_SHOWN]
        raise InputError(f"{place}: not well-formed XML ({message})", "fetch the file again") from error


def text_of(element: Any) -> str:
    """All text inside an element, including that of inline tags such as `<sub>`."""
    return "".join(element.itertext())


def _check_root(place: str, found: str, expected: str, roots: Collection[str]) -> None:
    if found not in roots:
        wanted = " or ".join(f"<{root}>" for root in roots)
        raise InputError(
            f"{place}: root element <{found[:_SHOWN]}> where {wanted} ({expected}) was expected",
            "check that this is the right file and format",
        )


class Meter:
    """A stream of XML that is checked against limits on its size while it is read.

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
        """Reset the limits, because a child of the root has ended."""
        self.since_child = self._tags = 0

    def read(self, size: int) -> bytes:
        """The next bytes.

        Raises:
            InputError: a record has more than `LARGEST_CHILD` bytes or `MOST_TAGS` tags, or a tag has more than
                `MOST_ATTRIBUTES` attributes.
        """
        content = self._stream.read(size)
        self.since_child += len(content)
        if self.since_child > LARGEST_CHILD:
            raise InputError(
                f"{self._place}: too large: one record has more than {LARGEST_CHILD / 2**20:.0f} MiB", _HINT
            )
        self._tags += content.count(b"<")
        if self._tags > MOST_TAGS:
            raise InputError(f"{self._place}: too large: one record has more than {MOST_TAGS} tags", _HINT)
        # each `<` begins a tag, because attributes cannot contain it; each attribute has an equals sign
        first, *tags = content.split(b"<")
        counts = [self._equals + first.count(b"="), *(tag.count(b"=") for tag in tags)]
        if max(counts) > MOST_ATTRIBUTES:
            raise InputError(f"{self._place}: too large: a tag has more than {MOST_ATTRIBUTES} attributes", _HINT)
        self._equals = counts[-1]
        return content
