"""Parse BioC files (XML or JSON, plain or gzip) into a stream of documents of the bioc library.

The readers of the bioc library resolve XML entities, cut a text at its first inline tag, hold the whole file in memory
and fail on a JSON object that lacks a key. So this module converts both formats to BioC JSON in which every key is
present, and the library builds its documents from this JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bioc import BioCDocument, biocjson

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.files import HALF_OF_PAIR, LARGEST_JSON, MOST_VALUES, fits_in_memory, read_head, read_lines
from biorel.formats.xml_stream import read_elements, text_of

Node = dict[str, Any]

_LISTS = ("passages", "sentences", "annotations", "relations", "nodes")
_ATTRIBUTES = frozenset({"id", "refid", "role", "offset", "length"})
# limit for one document; each node takes a few kilobytes as an object of the bioc library
_MOST_NODES = 100_000
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def parse_bioc(path: Path, counts: Counts) -> Iterator[BioCDocument]:
    """Yield the documents of a BioC file in file order.

    XML is streamed. A JSON file holds a collection, PubTator3's `{"PubTator3": [...]}`, a list of documents, one
    document, or one of these values per line.

    Raises:
        InputError: the file cannot be read, is neither XML nor JSON, or is not BioC.
    """
    head = read_head(path)
    if head.startswith((b"<", *_UTF16_MARKS)):
        for element in read_elements(path, "BioC", ("collection",), ("document",)):
            yield _built(path, _from_xml(element), counts)
    elif head.startswith((b"{", b"[")):
        for value in _json_values(path, counts):
            for node in _checked_documents(path, value):
                yield _built(path, node, counts)
    else:
        raise InputError(f"{path}: not a BioC file (neither XML nor JSON)", "BioC files begin with '<', '{' or '['")


def _from_xml(element: Any) -> Node:
    """An XML element in the form of BioC JSON."""
    # an attribute may have the name of a list, such as passages; it is ignored
    node: Node = {name: value for name, value in element.attrib.items() if name in _ATTRIBUTES}
    for child in element:
        tag = child.tag
        if tag == "infon":
            node.setdefault("infons", {})[child.get("key", "")] = text_of(child)
        elif tag in ("id", "offset", "text"):
            node[tag] = text_of(child)
        elif f"{tag}s" in (*_LISTS, "locations"):
            node.setdefault(f"{tag}s", []).append(_from_xml(child))
    return node


def _json_values(path: Path, counts: Counts) -> Iterator[Any]:
    """The JSON values of a file: one per line if the first line is a complete value, otherwise one for the file."""
    lines = ((number, line) for number, line in read_lines(path, counts, LARGEST_JSON) if line.strip())
    number, first = next(lines)
    try:
        value = json.loads(_checked_size(path, first))
    except ValueError:
        yield _loaded(path, 0, _joined(path, first, lines))
        return
    except RecursionError as error:
        raise _too_deep(path) from error
    yield value
    for number, line in lines:
        yield _loaded(path, number, line)


def _joined(path: Path, first: str, lines: Iterator[tuple[int, str]]) -> str:
    texts, size = [first], len(first)
    for _, line in lines:
        texts.append(line)
        size += len(line) + 1
        if size > LARGEST_JSON or len(texts) > MOST_VALUES:
            raise _too_large(path)
    return "\n".join(texts)


def _checked_size(path: Path, text: str) -> str:
    if not fits_in_memory(text):
        raise _too_large(path)
    return text


def _too_large(path: Path) -> InputError:
    return InputError(f"{path}: a JSON value is too large to read", "use BioC XML, or write one JSON document per line")


def _loaded(path: Path, number: int, text: str) -> Any:
    _checked_size(path, text)
    try:
        return json.loads(text)
    except ValueError as error:
        place = f"{path}:{number}" if number else str(path)
        raise InputError(f"{place}: not JSON ({error})", "fetch or export the file again") from error
    except RecursionError as error:
        raise _too_deep(path) from error


def _too_deep(path: Path) -> InputError:
    return InputError(f"{path}: the JSON is nested too deeply for BioC", "check that this is the right file")


def _checked_documents(path: Path, value: Any) -> list[Node]:
    try:
        return list(_json_documents(path, value))
    except RecursionError as error:
        raise _too_deep(path) from error


def _json_documents(path: Path, value: Any) -> Iterator[Node]:
    if isinstance(value, list):
        for item in value:
            yield from _json_documents(path, item)
    elif isinstance(value, dict) and "passages" in value:
        yield value
    elif isinstance(value, dict) and ("documents" in value or "PubTator3" in value):
        yield from _json_documents(path, value.get("documents", value.get("PubTator3")))
    else:
        keys = ", ".join(value)[:80] if isinstance(value, dict) else ""
        description = f"an object with the keys {keys or '(none)'}" if isinstance(value, dict) else repr(value)[:40]
        raise InputError(
            f"{path}: found {description} where a BioC collection or document was expected",
            "a BioC document has 'passages', a collection has 'documents'",
        )


def _without_halves(value: Any, counts: Counts) -> Any:
    r"""The value with each half of a surrogate pair (such as `"\ud83d"` alone) replaced by U+FFFD."""
    if isinstance(value, str):
        whole, halves = HALF_OF_PAIR.subn("\ufffd", value)
        if halves:
            counts.add(Reason.SURROGATE_REPLACED, count=halves)
        return whole
    if isinstance(value, list):
        return [_without_halves(item, counts) for item in value]
    if isinstance(value, dict):
        return {key: _without_halves(item, counts) for key, item in value.items()}
    return value


def _built(path: Path, node: Node, counts: Counts) -> BioCDocument:
    try:
        if _size(node) > _MOST_NODES:
            raise InputError(
                f"{path}: a document is too large: more than {_MOST_NODES} passages, annotations and other nodes"
            )
        return biocjson.fromJSON(_filled(_without_halves(node, counts)), bioctype="BioCDocument")
    except RecursionError as error:
        raise _too_deep(path) from error
    except (TypeError, ValueError, AttributeError) as error:
        place = f"{path}: document {_string(node.get('id'))[:40]!r}"
        raise InputError(f"{place} is not BioC ({error})", "fetch or export the file again") from error


def _size(node: Node) -> int:
    """The number of nodes in the tree below this node, including this node."""
    lists = (node.get(name) or [] for name in (*_LISTS, "locations"))
    return 1 + sum(_size(item) for items in lists for item in items)


def _filled(node: Node) -> Node:
    """The node with every key that the bioc library needs. Locations without whole numbers are left out."""
    spans = [(_whole(span.get("offset")), _whole(span.get("length"))) for span in node.get("locations") or []]
    whole = [(start, length) for start, length in spans if start is not None and length is not None]
    filled: Node = {name: [_filled(item) for item in node.get(name) or []] for name in _LISTS}
    return filled | {
        "locations": [{"offset": start, "length": length} for start, length in whole],
        "id": _string(node.get("id") or node.get("pmid")),
        "infons": dict(node.get("infons") or {}),
        "text": _string(node.get("text")),
        "offset": _whole(node.get("offset")),
        "refid": _string(node.get("refid")),
        "role": _string(node.get("role")),
    }


def _whole(value: Any) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"\s*\d{1,18}\s*", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _string(value: Any) -> str:
    """A string, or a number as a string; empty for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""
