"""Finding known terms in text: whole words only, the longest first, whatever the case and the accents."""

import re
from collections.abc import Iterable, Iterator, Mapping

from headwater.languages import fold

# Punctuation that ends a phrase is a word of its own: "Guinea, Bissau" is not Guinea-Bissau.
_WORD = re.compile(r"[^\W_]+|[,;:/()|\n]")

Words = tuple[str, ...]


def words_of(text: str) -> Words:
    return tuple(_WORD.findall(fold(text)))


class Vocabulary:
    """Meanings and the terms that say them. The meaning "" hides a phrase from the shorter terms inside it."""

    def __init__(self, terms: Mapping[str, Iterable[str]]) -> None:
        self._meanings = {words_of(term): meaning for meaning, said in terms.items() for term in said}
        self._by_first: dict[str, list[Words]] = {}
        for words in sorted(self._meanings, key=len, reverse=True):
            self._by_first.setdefault(words[0], []).append(words)

    def found_in(self, text: str) -> tuple[str, ...]:
        """Every meaning in the text once, in the order of its first mention."""
        words = words_of(text)
        meanings = (self._meanings[words[at : at + length]] for at, length in self._spans(words))
        return tuple(dict.fromkeys(filter(None, meanings)))

    def exactly(self, text: str) -> str:
        """The meaning of the whole text, or nothing."""
        return self._meanings.get(words_of(text), "")

    def _spans(self, words: Words) -> Iterator[tuple[int, int]]:
        at = 0
        while at < len(words):
            length = self._longest_at(words, at)
            if length:
                yield at, length
            at += length or 1

    def _longest_at(self, words: Words, at: int) -> int:
        candidates = self._by_first.get(words[at], ())
        return next((len(term) for term in candidates if words[at : at + len(term)] == term), 0)
