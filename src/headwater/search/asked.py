"""A question as a tree of words, as PostgreSQL reads what a person typed, for servers with another parser. Pure."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

# Of a question as PostgreSQL writes it: a word in quotes, a sign between words, a bracket, a "not".
_TOKEN = re.compile(r"\s*(?:'((?:[^'\\]|''|\\.)*)'(?::[*A-D]+)?|(<->|<\d+>|[&|!()]))", re.DOTALL)
_ESCAPED = re.compile(r"''|\\(.)", re.DOTALL)
_NO_LETTERS = re.compile(r"[\W_]")


@dataclass(frozen=True, slots=True)
class AskedWords:
    """Words one behind the other; None where one stands that the language leaves out."""

    words: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    parts: "tuple[AskedTree, ...]"


@dataclass(frozen=True, slots=True)
class AnyOf:
    parts: "tuple[AskedTree, ...]"


@dataclass(frozen=True, slots=True)
class Without:
    part: "AskedTree"


AskedTree = AskedWords | AllOf | AnyOf | Without


def asked_in(question: str) -> AskedTree | None:
    """What stands in a question that was parsed as `simple`: with all words, as they were typed. None: nothing."""
    tokens = _QuestionTokens(question)
    return tokens.any_of() if tokens.is_left else None


def left_out_of(asked: AskedTree, words: Collection[str]) -> AskedTree | None:
    """Without words that a language leaves out, such as "the"; None: nothing remains, and nothing is found."""
    match asked:
        case AskedWords(said):
            kept = [None if word in words else word for word in said]
            while kept and kept[0] is None:
                del kept[0]
            while kept and kept[-1] is None:
                del kept[-1]
            return AskedWords(tuple(kept)) if kept else None
        case Without(part):
            rest = left_out_of(part, words)
            return Without(rest) if rest else None
        case AllOf(parts):
            return _joined(AllOf, [rest for part in parts if (rest := left_out_of(part, words))])
        case AnyOf(parts):
            return _joined(AnyOf, [rest for part in parts if (rest := left_out_of(part, words))])


def every_word(asked: AskedTree) -> frozenset[str]:
    match asked:
        case AskedWords(said):
            return frozenset(word for word in said if word is not None)
        case Without(part):
            return every_word(part)
        case AllOf(parts) | AnyOf(parts):
            return frozenset[str]().union(*map(every_word, parts))


def words_wanted(asked: AskedTree) -> Iterator[AskedWords]:
    """Those that a text is found by, and not in spite of."""
    match asked:
        case AskedWords():
            yield asked
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from words_wanted(part)
        case Without():
            pass


class _QuestionTokens:
    """Of words and signs, by what binds closest: not, behind one another, and, or."""

    def __init__(self, question: str) -> None:
        self._tokens = [_token(found) for found in _TOKEN.finditer(question)][::-1]

    @property
    def is_left(self) -> bool:
        return bool(self._tokens)

    def any_of(self) -> AskedTree:
        parts = [self._all_of()]
        while self._takes("|"):
            parts.append(self._all_of())
        return _joined(AnyOf, parts) or AskedWords(())

    def _all_of(self) -> AskedTree:
        parts = [self._phrase()]
        while self._takes("&"):
            parts.append(self._phrase())
        return _joined(AllOf, parts) or AskedWords(())

    def _phrase(self) -> AskedTree:
        first = self._operand()
        if not isinstance(first, AskedWords):
            return first
        said = [*first.words]
        while distance := self._takes_distance():
            following = self._operand()
            said += [None] * (distance - 1)
            said += following.words if isinstance(following, AskedWords) else ()
        return AskedWords(tuple(_without_parts(said)))

    def _operand(self) -> AskedTree:
        word, sign = self._tokens.pop()
        if word is not None:
            return AskedWords((word,))
        if sign == "!":
            return Without(self._operand())
        inner = self.any_of()
        self._takes(")")
        return inner

    def _takes(self, sign: str) -> bool:
        is_next = self.is_left and self._tokens[-1] == (None, sign)
        if is_next:
            self._tokens.pop()
        return is_next

    def _takes_distance(self) -> int:
        if not self.is_left or not self._tokens[-1][1].startswith("<"):
            return 0
        sign = self._tokens.pop()[1][1:-1]
        return 1 if sign == "-" else int(sign)


def _token(found: re.Match[str]) -> tuple[str | None, str]:
    word, sign = found[1], found[2] or ""
    return (None if word is None else _ESCAPED.sub(lambda escaped: escaped[1] or "'", word)), sign


def _without_parts(said: Sequence[str | None]) -> Iterator[str | None]:
    """`well-known` is followed by its parts there, `well` and `known`; other servers part it themselves."""
    rest = ""
    for word in said:
        if word is not None and rest and word in rest:
            rest = rest.partition(word)[2]
            continue
        yield word
        rest = word if word is not None and _NO_LETTERS.search(word) else ""


def _joined(join: type[AllOf] | type[AnyOf], parts: Sequence[AskedTree]) -> AskedTree | None:
    """Each part once: a word that is typed a hundred times is one word."""
    different = tuple(dict.fromkeys(parts))
    if len(different) > 1:
        return join(different)
    return different[0] if different else None
