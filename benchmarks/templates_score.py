"""How much of a true text was found, paragraph by paragraph: ROUGE-Lsum, where some paragraphs may be left out.

For each true paragraph its words are matched, in order, with those of every paragraph found (longest common
subsequence); the union of the matched words counts, each found word at most as often as it was found. Recall is their
share of the true words, precision of the found ones, F1 the harmonic mean.

A true paragraph wholly in square brackets is optional: it counts only where counting it is the better for the score.
"""

import re
from collections import Counter
from collections.abc import Sequence

WORD = re.compile(r"\w+")

Words = list[str]


def f1(truth: Sequence[str], found: Sequence[str]) -> float:
    """`truth` is a list of paragraphs, the optional ones in square brackets."""
    got = [words for line in found if (words := words_of(line))]
    wanted = [words_of(line) for line in truth if not is_optional(line)]
    matched = [matched_words(words, got) for words in wanted]
    best = score(wanted, matched, got)
    for line in filter(is_optional, truth):
        words = words_of(line)
        more_wanted, more_matched = [*wanted, words], [*matched, matched_words(words, got)]
        with_it = score(more_wanted, more_matched, got)
        if with_it > best:
            wanted, matched, best = more_wanted, more_matched, with_it
    return best


def is_optional(line: str) -> bool:
    return line.startswith("[") and line.endswith("]")


def words_of(line: str) -> Words:
    return WORD.findall(line.casefold())


def score(wanted: Sequence[Words], matched: Sequence[Words], got: Sequence[Words]) -> float:
    available = Counter(word for words in got for word in words)
    hits = (Counter(word for words in matched for word in words) & available).total()
    whole = sum(map(len, wanted)) + available.total()
    return 2 * hits / whole if whole else 1.0


def matched_words(words: Words, lines: Sequence[Words]) -> Words:
    """Those of `words` that belong to a longest common subsequence with any of the lines."""
    if words in lines:
        return words
    own = set(words)
    places = {at for line in lines if own.intersection(line) for at in common_places(words, line)}
    return [words[at] for at in sorted(places)]


def common_places(words: Words, line: Words) -> list[int]:
    """Where in `words` one longest common subsequence with `line` stands."""
    lengths = [[0] * (len(line) + 1)]
    for word in words:
        above, row = lengths[-1], [0]
        for at, other in enumerate(line):
            row.append(above[at] + 1 if word == other else max(above[at + 1], row[at]))
        lengths.append(row)
    places, here, there = list[int](), len(words), len(line)
    while here and there:
        if words[here - 1] == line[there - 1]:
            here, there = here - 1, there - 1
            places.append(here)
        elif lengths[here - 1][there] >= lengths[here][there - 1]:
            here -= 1
        else:
            there -= 1
    return places
