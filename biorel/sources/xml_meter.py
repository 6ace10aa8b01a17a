"""XML that would hang or fill libxml2, found before it gets there: a record without end, a tag of ever more attributes.

libxml2 bounds the depth of a tree and the length of a text, but it holds one record of any size, and goes over the
attributes of a tag once for each of them.
"""

from __future__ import annotations

from typing import IO

from biorel.errors import InputError

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
