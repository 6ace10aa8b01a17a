"""Word-level tokens: the paper's ablation of byte pair encoding (table 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tokenizers import Tokenizer, models

from biorel.text.tokenizer import PAD, UNK, pieces


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
