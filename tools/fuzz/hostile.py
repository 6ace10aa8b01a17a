"""Files made to do harm: gzip and entity bombs, endless lines, deep nesting, quadratic work."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from functools import partial

HUNDRED_MB = 100_000_000

_FILLINGS = {
    "letters": b"a",
    "emoji and letters": "😀".encode() + b"a" * 60,
    "digits": b"7",
    "nul bytes": b"\0",
    "tabs": b"\t",
    "commas": b",",
    "bars": b"|",
    "open brackets": b"[",
    "empty lists": b"[],",
    "empty objects": b"{},",
    "quotes": b'"',
    "open tags": b"<a>",
    "empty tags": b"<a/>",
    "entities": b"&#65;",
}
_LINES = {
    "blank lines": b"\n",
    "short lines": b"ab\n",
    "rows": b"1\t0\t1\tA\tChemical\tD000001\n",
    "titles": b"1|t|a\n",
}


def hostile_files(seeds: list[bytes], size: int = HUNDRED_MB) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the name of each file and a function that makes its content.

    Args:
        seeds: valid files.
        size: bytes of an endless line or record. Files of many rows have a fiftieth of it, as their reading time
            grows with the number of rows.
    """
    valid, rows = seeds[0], size // 50
    for name, piece in _FILLINGS.items():
        yield f"a line of {name}", partial(_filled, b"", piece, b"", size)
        half = len(valid) // 2
        yield f"a valid file with {name} in it", partial(_filled, valid[:half], piece, valid[half:], size)
    for name, piece in _LINES.items():
        yield f"a valid file, then {name}", partial(_filled, valid.rstrip() + b"\n", piece, b"", rows)
    zeros, lines = gzip.compress(bytes(2**20), 1), gzip.compress(valid + b"\n" * rows, 1)
    yield "a gzip bomb of zeros", partial(_filled, b"", zeros, b"", len(zeros) * (5 * size // 2**20 + 1))
    yield "a gzip bomb of lines", partial(bytes, lines)
    yield "the file many times", partial(_filled, b"", valid.rstrip() + b"\n\n", b"", rows)
    yield "the file many times, compressed", partial(_filled, b"", gzip.compress(valid, 1), b"", rows)
    for make in (
        _billion_laughs,
        _billion_laughs_in_attribute,
        _quadratic_blowup,
        _many_entities,
        _external_entity,
        _endless_document,
        _many_attributes,
        _deep_nesting,
    ):
        for root in ("collection", "PubmedArticleSet", "DescriptorRecordSet"):
            yield f"{make.__name__.strip('_')} in {root}", partial(make, root, size)
    for name, json_ in _JSON.items():
        yield f"{name} in JSON", partial(json_, size)
    yield "misplaced mentions in PubTator", partial(_misplaced_pubtator, rows)
    yield "misplaced mentions in JSON", partial(_misplaced_json, rows)


def _filled(before: bytes, piece: bytes, after: bytes, size: int) -> bytes:
    return b"".join((before, piece * (size // len(piece)), after))


def _billion_laughs(root: str, size: int) -> bytes:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    return f'<!DOCTYPE {root} [<!ENTITY l0 "ha">{levels}]><{root}><document>&l11;</document></{root}>'.encode()


def _billion_laughs_in_attribute(root: str, size: int) -> bytes:
    return _billion_laughs(root, size).replace(b"<document>&l11;", b'<document id="&l11;">')


def _quadratic_blowup(root: str, size: int) -> bytes:
    text = "a" * (size // 1000)
    uses = "&x;" * (size // 1000)
    return f'<!DOCTYPE {root} [<!ENTITY x "{text}">]><{root}><document id="&x;&x;">{uses}</document></{root}>'.encode()


def _many_entities(root: str, size: int) -> bytes:
    declared = "".join(f'<!ENTITY e{n} "x">' for n in range(size // 20))
    return f"<!DOCTYPE {root} [{declared}]><{root}/>".encode()


def _external_entity(root: str, size: int) -> bytes:
    outside = '<!ENTITY f SYSTEM "file:///etc/passwd"><!ENTITY % d SYSTEM "http://127.0.0.1:1/d.dtd">%d;'
    return f"<!DOCTYPE {root} [{outside}]><{root}><document><id>&f;</id></document></{root}>".encode()


def _endless_document(root: str, size: int) -> bytes:
    tag = {"collection": "document", "PubmedArticleSet": "PubmedArticle"}.get(root, "DescriptorRecord")
    inner = b"<annotation/>" * (size // 13)
    return f"<{root}><{tag}>".encode() + inner + f"</{tag}></{root}>".encode()


def _many_attributes(root: str, size: int) -> bytes:
    many = " ".join(f'a{n}="x"' for n in range(size // 200))
    return f"<{root}><document {many}/></{root}>".encode()


def _deep_nesting(root: str, size: int) -> bytes:
    return f"<{root}>".encode() + b"<passage>" * (size // 100)


def _documents(items: str) -> bytes:
    return f'{{"documents": [{{"id": "1", "passages": [{items}]}}]}}'.encode()


def _misplaced_pubtator(size: int) -> bytes:
    text = "b" * (size // 2)
    rows = "".join(f"1\t0\t9\tname {n}\tChemical\tD{n:06d}\n" for n in range(size // 60))
    return f"1|t|{text}\n1|a|x\n{rows}\n".encode()


def _misplaced_json(size: int) -> bytes:
    rows = [{"start": 0, "end": 9, "text": f"name {n}", "type": "Chemical"} for n in range(size // 120)]
    return json.dumps({"id": "1", "title": "b" * (size // 2), "entities": rows}).encode()


_JSON: dict[str, Callable[[int], bytes]] = {
    "passages without content": lambda size: _documents("{}," * (size // 3) + "{}"),
    "numbers": lambda size: _documents("999," * (size // 4) + "1"),
    "one text": lambda size: _documents('{"text": "' + "a" * size + '"}'),
    "one text with an emoji": lambda size: _documents('{"text": "😀' + "a" * (size // 2) + '"}'),
    "deep lists just within the limit": lambda size: b"[" * 900 + b"]" * 900,
    "deep infons just within the limit": lambda size: _documents('{"infons": {"type": ' + "[" * 900 + "]" * 900 + "}}"),
    "deep objects just within the limit": lambda size: b'{"head": 1, "tail": ' + b'{"a":' * 900 + b"1" + b"}" * 901,
    "a relation with huge offsets": lambda size: (
        b'{"doc_id": "1", "head": {"id": "a", "type": "b", "name": "c"}, "relation": "r", '
        b'"tail": {"id": "a", "type": "b", "name": "c"}, "score": 1, "evidence": [{"head": [0, 99999999999], '
        b'"tail": [0, 1], "weight": 1, "sentence": [0, 9999999999999999999999]}]}\n'
    ),
}
