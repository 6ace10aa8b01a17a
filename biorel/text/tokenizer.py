"""Sub-word tokenizers: byte pair encoding (BRAN section 2.1) and whole words (Table 8), learned or imported.

All are Hugging Face tokenizers. None has a normaliser, so a token's character span is a span of the stored text. None
pads or truncates; the model's configuration decides about lengths.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tokenizers import Encoding, Regex, Tokenizer, models, pre_tokenizers, trainers

from biorel.errors import InputError

PAD, UNK = "[PAD]", "[UNK]"
PAD_ID, UNK_ID = 0, 1
# the file name of the tokenizer in every folder that has one
TOKENIZER = "tokenizer.json"
END_OF_WORD = "</w>"
# the first split: letters, digits and single other characters, so that entity boundaries are token boundaries
_PIECES = Regex(r"[^\W\d_]+|\d+|[^\w\s]|_")
# added to a code point, it marks the last character of a word; no script is assigned code points that high
_MARK = 0x80000

# the tokenizers' own threads do not survive a fork
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def encode(tokenizer: Tokenizer, text: str) -> Encoding:
    """The tokens of a text, without special tokens.

    A BERT post-processor would add [CLS] and [SEP], which cover no characters and whose spans are not in order.
    """
    return tokenizer.encode(text, add_special_tokens=False)


def choose_tokenizer(
    texts: Iterable[str],
    *,
    kind: str = "bpe",
    file: Path | None = None,
    merges: Path | None = None,
    vocabulary: int = 2500,
    min_count: int = 5,
) -> Tokenizer:
    """Read, import or learn a tokenizer.

    Args:
        texts: training texts. They are not consumed if `file` is given.
        kind: `bpe` or `words`, for a tokenizer that is learned.
        file: a tokenizer.json or a folder that contains one; used unchanged.
        merges: BPE merges in subword-nmt's format, to import.
        vocabulary: maximum size of a learned BPE vocabulary.
        min_count: minimum count of a word in a word vocabulary.

    Raises:
        InputError: a file is missing or malformed.
    """
    if file is not None:
        return load_tokenizer(file)
    if merges is not None:
        return import_subword_nmt(merges, texts)
    return learn_words(texts, min_count) if kind == "words" else learn_bpe(texts, vocabulary)


def learn_bpe(texts: Iterable[str], vocabulary: int) -> Tokenizer:
    """Learn a byte pair vocabulary of at most `vocabulary` tokens from the training texts.

    The result is reproducible, unlike that of the library's trainer: it numbers symbols with a suffix in hash order
    and breaks ties by number. This function therefore marks the last character of each word by another character,
    trains without a suffix, and writes the suffix into the result.
    """
    learner = Tokenizer(models.BPE(unk_token=UNK))
    learner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, min_frequency=2, special_tokens=[PAD, UNK], show_progress=False
    )
    learner.train_from_iterator(_marked_words(texts), trainer)
    learned = json.loads(learner.to_str())["model"]
    ids = {_suffixed(token): index for token, index in learned["vocab"].items()}
    merges = [(_suffixed(left), _suffixed(right)) for left, right in learned["merges"]]
    return _tokenizer(models.BPE(ids, merges, unk_token=UNK, end_of_word_suffix=END_OF_WORD))


def _marked_words(texts: Iterable[str]) -> Iterator[str]:
    """The words of each text with their last character marked, and finally the alphabet with and without marks."""
    split = pieces()
    characters: set[str] = set()
    for text in texts:
        known = "".join(character if ord(character) < _MARK else "\ufffd" for character in text)
        characters.update(known)
        yield " ".join(piece[:-1] + chr(ord(piece[-1]) + _MARK) for piece, _ in split.pre_tokenize_str(known))
    alphabet = sorted(character for character in characters if character.isalnum())
    yield " ".join([*alphabet, *(chr(ord(character) + _MARK) for character in alphabet)])


def _suffixed(symbol: str) -> str:
    """The symbol with the end-of-word suffix in place of a mark on its last character."""
    return symbol[:-1] + chr(ord(symbol[-1]) - _MARK) + END_OF_WORD if ord(symbol[-1]) >= _MARK else symbol


def learn_words(texts: Iterable[str], min_count: int) -> Tokenizer:
    """Learn a vocabulary of the words with at least `min_count` occurrences; every other word is UNK.

    Words are the runs of letters, runs of digits and single characters that byte pair encoding would split further.
    They are ordered by descending count, then by code points.
    """
    counts: Counter[str] = Counter()
    splitter = pieces()
    for text in texts:
        counts.update(word for word, _ in splitter.pre_tokenize_str(text))
    frequent = (word for word, count in counts.items() if count >= min_count)
    ordered = [PAD, UNK, *sorted(frequent, key=lambda word: (-counts[word], word))]
    return _tokenizer(models.WordLevel({word: index for index, word in enumerate(ordered)}, unk_token=UNK))


def import_subword_nmt(path: Path, texts: Iterable[str]) -> Tokenizer:
    """A tokenizer from merges in subword-nmt's format: `a b` or `a b</w>` a line, below a `#version` line.

    Its alphabet is the characters of the merges and of the training texts.

    Raises:
        InputError: the file is missing, or a line does not hold two symbols.
    """
    merges = list(_read_merges(path))
    characters = {character for text in texts for character in text if not character.isspace()}
    for pair in merges:
        for symbol in pair:
            characters.update(symbol.removesuffix(END_OF_WORD))
    alphabet = sorted(characters)
    known = dict.fromkeys([PAD, UNK, *alphabet, *(character + END_OF_WORD for character in alphabet)])
    usable = []
    for left, right in merges:
        if left in known and right in known:
            usable.append((left, right))
            known[left + right] = None
    ids = {token: index for index, token in enumerate(known)}
    return _tokenizer(models.BPE(ids, usable, unk_token=UNK, end_of_word_suffix=END_OF_WORD))


def _read_merges(path: Path) -> Iterator[tuple[str, str]]:
    if not path.is_file():
        raise InputError(f"{path}: no such file", "--merges takes a file in subword-nmt's format")
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), start=1):
        if line.startswith("#version") or not line.strip():
            continue
        symbols = line.split(" ")
        if len(symbols) != 2:
            raise InputError(f"{path}:{number}: {len(symbols)} symbols instead of two")
        yield symbols[0], symbols[1]


def _tokenizer(model: models.Model) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pieces()
    return tokenizer


def pieces() -> pre_tokenizers.PreTokenizer:
    """Split a text into runs of letters, runs of digits and single other characters, without the blanks."""
    return pre_tokenizers.Split(_PIECES, behavior="removed", invert=True)


def spellings(tokenizer: Tokenizer) -> dict[str, int]:
    """The ids of tokens, spelled as in files of word vectors.

    Byte pair tokens are spelled as subword-nmt does: `token@@` inside a word, `token` at its end. PAD, UNK and the
    tokens of other models keep their spelling.
    """
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    if getattr(tokenizer.model, "end_of_word_suffix", None) != END_OF_WORD:
        return vocabulary
    return {_spelling(token): index for token, index in vocabulary.items()}


def _spelling(token: str) -> str:
    if token in (PAD, UNK):
        return token
    return token.removesuffix(END_OF_WORD) if token.endswith(END_OF_WORD) else f"{token}@@"


def save_tokenizer(tokenizer: Tokenizer, path: Path) -> None:
    """Write a tokenizer.json.

    Raises:
        OSError: the file cannot be written; the library's own `save` raises a bare Exception.
    """
    path.write_text(tokenizer.to_str(pretty=True), encoding="utf-8")


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a tokenizer file, or the one in a dataset, model or pre-trained folder.

    Raises:
        InputError: the file is missing or is not a tokenizer.
    """
    if path.is_dir():
        path = path / TOKENIZER
    if not path.is_file():
        raise InputError(f"{path}: no such file", "the folder should contain the tokenizer that biorel wrote")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise InputError(f"{path}: not a tokenizer file ({error})") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
