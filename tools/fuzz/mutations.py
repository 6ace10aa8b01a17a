"""Mutations of valid files: cut, flipped and repeated bytes, broken gzip, other encodings, and values that break
parsers. A seeded generator makes every case repeatable."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Callable

_WORDS = (
    *(
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98\x80",
        b"\xe2\x80\xa8",
        b"\r",
        b"\x1a",
    ),
    *(b"9" * 5000, b"-1", b"9223372036854775808", b"2147483648", b"1e999", b"NaN", b"-Infinity", b"0x10", b"\xd9\xa3"),
    *(b"null", b"true", b"[]", b"{}", b'""', b'"\\ud83d"', b'"\\u0000"', b"[" * 3000, b'{"a":' * 3000, b"[[[" * 400),
    *(b"&amp;", b"&x;", b"&#0;", b"&#xD800;", b"]]>", b"<![CDATA[", b"<!--", b"<a>" * 400, b"</a>", b"<?x?>"),
    *(b"\t" * 50, b"|", b"\n", b"\n\n", b'"', b"'", b",", b"=1+1", b"../../etc/passwd", b"a" * 200_000, b"|t|", b"|a|"),
)
_NUMBER = re.compile(rb"\d+")
_QUOTED = re.compile(rb'"[^"\\]*"|>[^<]*<')


def mutate(seeds: list[bytes], rng: random.Random) -> bytes:
    """One of the valid files with one, two or four faults; one case in four is compressed as well."""
    content = rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 2, 4))):
        content = rng.choice(_FAULTS)(content, rng)
    return rng.choice(_COMPRESSIONS)(content, rng)


def _flip(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 3, 20))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _drop(content: bytes, rng: random.Random) -> bytes:
    start, end = _span(content, rng)
    return content[:start] + content[end:]


def _repeat(content: bytes, rng: random.Random) -> bytes:
    start, end = _span(content, rng)
    return content[:end] + content[start:end] * rng.choice((1, 2, 50)) + content[end:]


def _insert(content: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] + rng.choice(_WORDS) + content[place:]


def _number(content: bytes, rng: random.Random) -> bytes:
    return _swap(_NUMBER, content, rng)


def _value(content: bytes, rng: random.Random) -> bytes:
    return _swap(_QUOTED, content, rng)


def _swap(pattern: re.Pattern[bytes], content: bytes, rng: random.Random) -> bytes:
    found = list(pattern.finditer(content))
    if not found:
        return content
    match, word = rng.choice(found), rng.choice(_WORDS)
    if match[0].startswith(b">"):
        word = b">" + word + b"<"
    elif match[0].startswith(b'"') and rng.random() < 0.5:
        word = b'"' + word + b'"'
    return content[: match.start()] + word + content[match.end() :]


def _lines(content: bytes, rng: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    rng.shuffle(lines)
    return b"".join(lines)


def _encoded(content: bytes, rng: random.Random) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(rng.choice(("utf-16", "utf-16-be", "utf-32", "latin-1", "utf-7", "cp1252")), "replace")


def _mixed(content: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] + _encoded(content[place:], rng)


def _span(content: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(content) + 1)
    return start, min(len(content), start + rng.choice((1, 8, 200)))


def _plain(content: bytes, rng: random.Random) -> bytes:
    return content


def _gzip(content: bytes, rng: random.Random) -> bytes:
    return gzip.compress(content, 1, mtime=0)


def _cut_gzip_member(content: bytes, rng: random.Random) -> bytes:
    half = len(content) // 2
    return _gzip(content[:half], rng) + _cut(_gzip(content[half:], rng), rng)


def _damaged_gzip(content: bytes, rng: random.Random) -> bytes:
    return _flip(_gzip(content, rng), rng)


def _gzip_and_garbage(content: bytes, rng: random.Random) -> bytes:
    return _gzip(content, rng) + rng.choice((b"\0" * 9, b"garbage", b"\x1f\x8b"))


Fault = Callable[[bytes, random.Random], bytes]
_FAULTS: tuple[Fault, ...] = (
    *(_flip, _flip, _cut, _drop, _repeat, _insert, _insert, _number, _number, _value, _value, _lines),
    *(_encoded, _mixed),
)
_COMPRESSIONS: tuple[Fault, ...] = (*[_plain] * 12, _gzip, _cut_gzip_member, _damaged_gzip, _gzip_and_garbage)
