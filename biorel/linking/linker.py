"""The linker maps mentions to concepts: one id for a span, several for a composite, or none. It is deterministic.

A name is looked up in these ways, in order: in successively looser forms (see `index.FORMS`), without words that a name
does not need, as a composite, and by similarity above a threshold. If the document defines a long form of the name, the
long form is tried first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from biorel.errors import ModelError
from biorel.linking.index import FORMS, NameIndex
from biorel.linking.lexicon import JOINT, LEXICON, read_lexicon
from biorel.linking.names import normal
from biorel.linking.similarity import SimilarNames
from biorel.linking.word_classes import plain_name
from biorel.records import Document, Mention, Name
from biorel.text.abbreviations import find_abbreviations

CONFIG = "config.json"
_STRICT = tuple(form for form in FORMS if form != "kindred")
_NEVER = 2.0
_MOST_KNOWN = 100_000
_CONJUNCTION = re.compile(r"\s*,\s*(?:and|or|and/or)?\s+|\s+(?:and|or|and/or|as well as)\s+|\s*/\s*", re.IGNORECASE)
_MOST_SHARED = 2


@dataclass(frozen=True)
class Settings:
    """For each type, the similarity from which the most similar name is accepted; for other types, none is accepted."""

    thresholds: Mapping[str, float] = field(default_factory=dict)


@dataclass
class _Type:
    """The indexed names of one entity type, and the ids of the names looked up so far."""

    index: NameIndex
    similar: SimilarNames
    known: dict[tuple[str, bool], tuple[str, ...]] = field(default_factory=dict)


class Linker:
    """Gives mentions the ids of their concepts. The names of a type are indexed at their first use."""

    def __init__(self, names: Sequence[Name], settings: Settings) -> None:
        self.settings = settings
        self._names: dict[str, list[Name]] = {}
        for name in names:
            self._names.setdefault(name.type, []).append(name)
        self._types: dict[str, _Type] = {}

    def retuned(self, settings: Settings) -> Linker:
        """This linker with other settings; the indexed names are shared."""
        other = Linker((), settings)
        other._names = self._names
        other._types = {type_: replace(self._type(type_), known={}) for type_ in self._names}
        return other

    def link(self, document: Document, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
        """The mentions with concept ids; a mention that has an id keeps it.

        A composite becomes one mention for each of its concepts. The id of an unknown name is None.
        """
        mentions = tuple(mentions)
        if all(mention.entity_id is not None for mention in mentions):
            return mentions
        long_forms = find_abbreviations(document.text, len(document.title))
        short_forms: dict[str, str] = {}
        for short, long in long_forms.items():
            short_forms.setdefault(normal(long), short)
        linked: list[Mention] = []
        for mention in mentions:
            if mention.entity_id is not None:
                linked.append(mention)
                continue
            ids = self._ids(mention, long_forms, short_forms)
            linked += [replace(mention, entity_id=id_) for id_ in ids] or [mention]
        return tuple(linked)

    def _ids(self, mention: Mention, long_forms: Mapping[str, str], short_forms: Mapping[str, str]) -> tuple[str, ...]:
        """The ids of a mention by its long form, its own text or its short form, first without similarity."""
        own = mention.text
        texts = [long_forms.get(own, own), own]
        short = short_forms.get(normal(own))
        texts += [short] if short else []
        texts = list(dict.fromkeys(texts))
        for guess in (False, True):
            for text in texts:
                ids = self.look_up(text, mention.type, guess=guess)
                if ids:
                    return ids
        return ()

    def look_up(self, text: str, type_: str, *, guess: bool = True) -> tuple[str, ...]:
        """The ids of a name out of context; empty if it is unknown. `guess` permits the most similar name."""
        if type_ not in self._names:
            return ()
        names = self._type(type_)
        key = (text, guess)
        if key not in names.known:
            if len(names.known) >= _MOST_KNOWN:
                names.known.clear()
            found = self._exact(names, text, type_) or (self._similar(names, text, type_) if guess else "")
            names.known[key] = tuple(found.split(JOINT)) if found else ()
        return names.known[key]

    def _type(self, type_: str) -> _Type:
        if type_ not in self._types:
            index = NameIndex(self._names[type_])
            self._types[type_] = _Type(index, SimilarNames(index.keys))
        return self._types[type_]

    def _exact(self, names: _Type, text: str, type_: str) -> str:
        readings = names.index.find(text, _STRICT) or names.index.find(plain_name(text, type_), _STRICT)
        return (
            readings[0] if readings else self._composite(names, text) or next(iter(names.index.find(text, FORMS)), "")
        )

    def _composite(self, names: _Type, text: str) -> str:
        """The joined ids of a span if all its parts are known names, of at least two concepts."""
        for way in parts(text):
            found = [names.index.find(part, FORMS) for part in way]
            if all(found):
                ids = list(dict.fromkeys(readings[0] for readings in found))
                if len(ids) > 1:
                    return JOINT.join(ids)
        return ""

    def _similar(self, names: _Type, text: str, type_: str) -> str:
        key, similarity = names.similar.nearest(normal(text))
        if similarity >= self.settings.thresholds.get(type_, _NEVER):
            return names.index.find(key, ("normal",))[0]
        return ""


def parts(text: str) -> tuple[tuple[str, ...], ...]:
    """The ways to split a span into several names, the likeliest first; empty if it has no conjunction.

    `renal and hepatic failure` becomes `renal failure` and `hepatic failure`. The last word or two of the span may
    belong to every part, or its first word may, or the parts may be complete names.
    """
    pieces = [piece for piece in _CONJUNCTION.split(text.strip()) if piece]
    if len(pieces) < 2:
        return ()
    last = pieces[-1].split()
    first = pieces[0].split()
    ways = [
        (*(f"{piece} {' '.join(last[-shared:])}" for piece in pieces[:-1]), pieces[-1])
        for shared in range(1, _MOST_SHARED + 1)
        if len(last) > shared
    ]
    if len(first) > 1:
        ways.append((pieces[0], *(f"{first[0]} {piece}" for piece in pieces[1:])))
    return (*ways, tuple(pieces))


def load_linker(folder: Path) -> Linker:
    """Load a folder written by `build-linker`.

    Raises:
        ModelError: config.json is missing or is not the configuration of a linker.
        InputError: the lexicon is missing or damaged.
    """
    path = folder / CONFIG
    try:
        values: Any = json.loads(path.read_text(encoding="utf-8"))
        thresholds = {str(type_): float(value) for type_, value in values["thresholds"].items()}
    except OSError as error:
        raise ModelError(
            f"{path}: {error.strerror or error}", "give a folder written by biorel build-linker"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path}: not the configuration of a linker", "build the linker again") from error
    return Linker(read_lexicon(folder / LEXICON), Settings(thresholds))
