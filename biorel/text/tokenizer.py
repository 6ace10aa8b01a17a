"""Byte pair encoding (BRAN section 2.1) through Hugging Face tokenizers, learned or imported.

No normaliser is used: a token's character span is always a span of the text as it is stored.
Padding and truncation are never part of a tokenizer; lengths belong to the model's configuration.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from biorel.config import BuildDataset, Pretrain
from biorel.errors import InputError

PAD, UNK = "[PAD]", "[UNK]"
PAD_ID, UNK_ID = 0, 1
# its name in every folder that holds one
TOKENIZER = "tokenizer.json"
END_OF_WORD = "</w>"
# learning splits into letters, numbers and single other characters, so that entity borders are token borders
_PIECES = Regex(r"[^\W\d_]+|\d+|[^\w\s]|_")

# added to a code point it marks the last character of a word; no text in a script reaches so far
_MARK = 0x80000

# forked workers must not use the tokenizer's own threads
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def learn_bpe(texts: Iterable[str], budget: int) -> Tokenizer:
    """Learn a byte pair vocabulary of at most `budget` tokens over the training texts.

    The same texts give the same vocabulary. The library's trainer does not: it numbers symbols that have a
    suffix in the order of a hash and breaks ties by number. So it learns from words whose last character is
    marked by another character, and the suffix is written in afterwards.
    """
    learner = Tokenizer(models.BPE(unk_token=UNK))
    learner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=budget, min_frequency=2, special_tokens=[PAD, UNK], show_progress=False)
    learner.train_from_iterator(_marked_words(texts), trainer)
    learned = json.loads(learner.to_str())["model"]
    vocabulary = {_suffixed(token): index for token, index in learned["vocab"].items()}
    merges = [(_suffixed(left), _suffixed(right)) for left, right in learned["merges"]]
    return _tokenizer(models.BPE(vocabulary, merges, unk_token=UNK, end_of_word_suffix=END_OF_WORD))


def _marked_words(texts: Iterable[str]) -> Iterator[str]:
    """The pieces of each text, the last character of each marked; in the end the letters and digits in both forms."""
    split = pieces()
    seen: set[str] = set()
    for text in texts:
        known = "".join(character if ord(character) < _MARK else "\ufffd" for character in text)
        seen.update(known)
        yield " ".join(piece[:-1] + chr(ord(piece[-1]) + _MARK) for piece, _ in split.pre_tokenize_str(known))
    alphabet = sorted(character for character in seen if character.isalnum())
    yield " ".join([*alphabet, *(chr(ord(character) + _MARK) for character in alphabet)])


def _suffixed(symbol: str) -> str:
    """A symbol with the end-of-word suffix where its last character is marked."""
    return symbol[:-1] + chr(ord(symbol[-1]) - _MARK) + END_OF_WORD if ord(symbol[-1]) >= _MARK else symbol


def import_subword_nmt(merges_path: Path, texts: Iterable[str]) -> Tokenizer:
    """A tokenizer from merges in subword-nmt's format (`a b` or `a b</w>` a line, `#version` first).

    The alphabet is that of the merges and of the training texts.

    Raises:
        InputError: the file is missing or a line is no pair.
    """
    merges = list(_read_merges(merges_path))
    characters = {character for text in texts for character in text if not character.isspace()}
    for pair in merges:
        for symbol in pair:
            characters.update(symbol.removesuffix(END_OF_WORD))
    alphabet = sorted(characters)
    vocabulary = [PAD, UNK, *alphabet, *(character + END_OF_WORD for character in alphabet)]
    known = dict.fromkeys(vocabulary)
    usable = []
    for left, right in merges:
        if left in known and right in known:
            usable.append((left, right))
            known[left + right] = None
    ids = {token: index for index, token in enumerate(known)}
    return _tokenizer(models.BPE(ids, usable, unk_token=UNK, end_of_word_suffix=END_OF_WORD))


def _read_merges(path: Path) -> Iterator[tuple[str, str]]:
    if not path.is_file():
        raise InputError(f"{path}: no such file", "name a merges file in subword-nmt's format")
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), start=1):
        if line.startswith("#version") or not line.strip():
            continue
        parts = line.split(" ")
        if len(parts) != 2:
            raise InputError(f"{path}:{number}: {len(parts)} symbols where a merge has two")
        yield parts[0], parts[1]


def _tokenizer(model: models.BPE) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pieces()
    return tokenizer


def pieces() -> pre_tokenizers.PreTokenizer:
    """What splits a text into runs of letters, runs of digits and single other characters; blanks are left out."""
    return pre_tokenizers.Split(_PIECES, behavior="removed", invert=True)


def spellings(tokenizer: Tokenizer) -> dict[str, int]:
    """The tokens as files of vectors spell them, with their ids.

    In byte pair encoding that is subword-nmt's spelling, where `token@@` goes on within the word and `token` ends it;
    PAD, UNK and tokens of other kinds stand for themselves.
    """
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    if getattr(tokenizer.model, "end_of_word_suffix", None) != END_OF_WORD:
        return vocabulary
    return {_spelled(token): index for token, index in vocabulary.items()}


def _spelled(token: str) -> str:
    if token in (PAD, UNK):
        return token
    return token.removesuffix(END_OF_WORD) if token.endswith(END_OF_WORD) else f"{token}@@"


def save_tokenizer(tokenizer: Tokenizer, path: Path) -> None:
    """Write a tokenizer.json; a full disk is an OSError here, and has no kind of its own in tokenizers' own `save`."""
    path.write_text(tokenizer.to_str(pretty=True), encoding="utf-8")


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a tokenizer file, or the one that a dataset, model or pre-trained folder holds.

    Raises:
        InputError: missing or not a tokenizer.
    """
    if path.is_dir():
        path = path / TOKENIZER
    if not path.is_file():
        raise InputError(f"{path}: no such file", "the folder should hold the tokenizer that biorel wrote")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise InputError(f"{path}: not a tokenizer file ({error})") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


# MERGED from stages.vocabulary: The tokenizer that a command's options ask for: read, imported, or learned from texts.
def choose_tokenizer(config: BuildDataset | Pretrain, texts: Iterable[str]) -> Tokenizer:
    """The tokenizer of the options; a tokenizer that is read as it is leaves the texts unread.

    Raises:
        InputError: a file that is missing or not what it should be.
    """
    if config.tokenizer_file is not None:
        return load_tokenizer(config.tokenizer_file)
    if config.merges is not None:
        return import_subword_nmt(config.merges, texts)
    if config.tokenizer == "words":
        return learn_words(texts, config.min_count)
    return learn_bpe(texts, config.vocabulary)


# MERGED from text.words: Word-level tokens: the paper's ablation of byte pair encoding (table 8).
def learn_words(texts: Iterable[str], min_count: int) -> Tokenizer:
    """A tokenizer of the words seen at least `min_count` times in the texts; every other word is UNK.

    A word is what byte pair encoding would divide further: a run of letters or of digits, or one other character.
    The most frequent words come first, words of one count in the order of their code points.
    """
    counts: Counter[str] = Counter()
    splitter = pieces()
    for text in texts:
        counts.update(word for word, _ in splitter.pre_tokenize_str(text))
    frequent = (word for word, count in counts.items() if count >= min_count)
    ordered = [PAD, UNK, *sorted(frequent, key=lambda word: (-counts[word], word))]
    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(ordered)}, unk_token=UNK))
    tokenizer.pre_tokenizer = splitter
    return tokenizer
