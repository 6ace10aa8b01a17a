"""A web page where data was expected: what services send, often with status 200, when they are down or want to see a
person."""

from __future__ import annotations

import re

_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_TITLE = re.compile(rb"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_ROBOTS = re.compile(
    rb"captcha|altcha|verify (?:that )?you are (?:a )?human|not a robot|unusual traffic", re.IGNORECASE
)
_TITLE_SHOWN = 80


def page_title(head: bytes) -> str | None:
    """What the page is called ("web page" where it has no title); None where the bytes are no page at all."""
    if not _PAGE.match(head):
        return None
    title = _TITLE.search(head)
    words = " ".join(title[1].decode("utf-8", "replace").split()) if title else ""
    return f"web page {words[:_TITLE_SHOWN]!r}" if words else "web page"


def asks_for_a_person(page: bytes) -> bool:
    """Whether a page is a check for robots, which no second try can pass."""
    return bool(_ROBOTS.search(page))
