"""Mentions into concepts: one deterministic id for a span (several for a composite), or none.

A name is looked up by ever looser forms (see `index.FORMS`), as the long form that its document gives for it, without
what a name may lose, as a composite, and last by similarity above a threshold.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from biorel.errors import ModelError
from biorel.linking.composites import parts
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


@dataclass(frozen=True)
class Settings:
    """What was tuned: by type the similarity from which the nearest name is taken; without one it never is."""

    thresholds: Mapping[str, float] = field(default_factory=dict)


@dataclass
class _Type:
    """The names of one entity type, and what became of each name that was looked up: its ids, maybe none."""

    index: NameIndex
    similar: SimilarNames
    known: dict[tuple[str, bool], tuple[str, ...]] = field(default_factory=dict)


class Linker:
    """Gives mentions the ids of their concepts. What it needs of a type is built when that is first asked for."""

    def __init__(self, names: Sequence[Name], settings: Settings) -> None:
        self.settings = settings
        self._names: dict[str, list[Name]] = {}
        for name in names:
            self._names.setdefault(name.type, []).append(name)
        self._types: dict[str, _Type] = {}

    def retuned(self, settings: Settings) -> Linker:
        """This linker with other settings; what was built of its names is shared."""
        other = Linker((), settings)
        other._names = self._names
        other._types = {type_: replace(self._type(type_), known={}) for type_ in self._names}
        return other

    def link(self, document: Document, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
        """The mentions with ids; a mention that has one already keeps it.

        A composite becomes a mention for each of its concepts. One that nothing is known of has the id None.
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
        """The ids of a mention by its long form, its own text, its short form; first without guessing."""
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
        """The ids of a name out of context; empty where there is none. `guess` adds the most similar name."""
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
        """The joined ids of a span whose parts are all names of different concepts."""
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


def load_linker(folder: Path) -> Linker:
    """The linker of a folder that build-linker wrote.

    Raises:
        ModelError: config.json is missing or is not that of a linker.
        InputError: the lexicon is missing or no lexicon.
    """
    path = folder / CONFIG
    try:
        values: Any = json.loads(path.read_text(encoding="utf-8"))
        thresholds = {str(type_): float(value) for type_, value in values["thresholds"].items()}
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror or error}", "name a folder that build-linker wrote") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path}: not the configuration of a linker", "build the linker again") from error
    return Linker(read_lexicon(folder / LEXICON), Settings(thresholds))
