"""The vocabulary of rights, one statement about them, and the record that all statements of a page make together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from headwater.errors import UsageError
from headwater.storable import one_line

LONGEST_SAID = 300
LONGEST_LICENCE = 2_083
# What a page says beyond so many statements still counts, and is not kept.
MOST_KEPT = 16
MOST_STATEMENTS = 200


class PageUse(StrEnum):
    """A use of a page's words that a publisher may speak about."""

    TRAIN = "train"  # of AI models
    INPUT = "input"  # of an AI that answers with them
    SEARCH = "search"
    TDM = "tdm"  # text and data mining
    IMAGES = "images"  # its images, by an AI


class Right(StrEnum):
    """An answer about one use. `UNKNOWN`: nothing was said, which is not a yes."""

    ALLOWED = "allowed"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Convention(StrEnum):
    CONTENT_USAGE = "content-usage"
    CONTENT_SIGNAL = "content-signal"
    TDMREP = "tdmrep"
    RSL = "rsl"
    NOAI = "noai"


class StatedIn(StrEnum):
    """Where a statement stood."""

    ROBOTS = "robots.txt"
    HEADER = "header"
    PAGE = "page"
    FEED = "feed"
    WELL_KNOWN = "/.well-known/tdmrep.json"


# These are asked for or sent with every answer; what a page or its feed says is read again with its text only.
OUTSIDE = frozenset({StatedIn.ROBOTS, StatedIn.HEADER, StatedIn.WELL_KNOWN})


@dataclass(frozen=True, slots=True)
class UseStatement:
    """`said` are the publisher's own words, cut; a use that is both allowed and refused is refused."""

    convention: Convention
    place: StatedIn
    said: str
    allowed: tuple[PageUse, ...] = ()
    refused: tuple[PageUse, ...] = ()
    licence: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "convention": str(self.convention),
            "place": str(self.place),
            "said": self.said,
            "allowed": list(map(str, self.allowed)),
            "refused": list(map(str, self.refused)),
            "licence": self.licence,
        }


def statement(
    convention: Convention,
    place: StatedIn,
    said: str,
    *,
    allowed: Iterable[PageUse] = (),
    refused: Iterable[PageUse] = (),
    licence: str = "",
) -> UseStatement:
    """In the order of the vocabulary, in words that can be stored and shown.

    A reservation of text and data mining holds for training, which is a kind of it. A permission never widens.
    """
    no = set(refused)
    no |= {PageUse.TRAIN} if PageUse.TDM in no else set()
    yes = set(allowed) - no
    return UseStatement(
        convention,
        place,
        one_line(said, LONGEST_SAID),
        tuple(use for use in PageUse if use in yes),
        tuple(use for use in PageUse if use in no),
        web_address(licence),
    )


def statement_from(stored: Mapping[str, Any]) -> UseStatement:
    return UseStatement(
        Convention(stored["convention"]),
        StatedIn(stored["place"]),
        stored["said"],
        tuple(map(PageUse, stored["allowed"])),
        tuple(map(PageUse, stored["refused"])),
        stored["licence"],
    )


def web_address(written: str) -> str:
    """Empty for all that is no address of the web, or too long for one."""
    line = one_line(written, LONGEST_LICENCE + 1)
    is_address = line.lower().startswith(("http://", "https://")) and len(line) <= LONGEST_LICENCE
    return line if is_address and " " not in line else ""


@dataclass(frozen=True, slots=True)
class Rights:
    """The strictest word on each use, and the statements behind it."""

    refused: frozenset[PageUse] = frozenset()
    allowed: frozenset[PageUse] = frozenset()
    statements: tuple[UseStatement, ...] = ()

    def of(self, use: PageUse) -> Right:
        if use in self.refused:
            return Right.REFUSED
        return Right.ALLOWED if use in self.allowed else Right.UNKNOWN

    @property
    def marks(self) -> list[str]:
        """What was said, use by use, as it is stored: `train=refused`."""
        return [f"{use}={self.of(use)}" for use in PageUse if self.of(use) is not Right.UNKNOWN]

    @property
    def said(self) -> list[dict[str, Any]]:
        return [one.as_dict() for one in self.statements]

    def without(self, places: frozenset[StatedIn]) -> tuple[UseStatement, ...]:
        return tuple(one for one in self.statements if one.place not in places)


NOTHING_SAID = Rights()


_AS_TOLD = (StatedIn.ROBOTS, StatedIn.WELL_KNOWN, StatedIn.HEADER, StatedIn.PAGE, StatedIn.FEED)


def rights_from(statements: Iterable[UseStatement]) -> Rights:
    """The most restrictive statement wins, whoever said it and wherever. Refusals are kept before permissions."""
    # In one order, whichever of them were read anew: another order would be another record.
    told = sorted(dict.fromkeys(statements), key=lambda one: _AS_TOLD.index(one.place))[:MOST_STATEMENTS]
    refused = frozenset(use for one in told for use in one.refused)
    allowed = frozenset(use for one in told for use in one.allowed) - refused
    kept = set(sorted(told, key=lambda one: not one.refused)[:MOST_KEPT])
    return Rights(refused, allowed, tuple(one for one in told if one in kept))


def restated(before: Sequence[Mapping[str, Any]], now: Iterable[UseStatement], places: frozenset[StatedIn]) -> Rights:
    """Those of `places` as they are said now, all others as they were stored."""
    kept = rights_from(map(statement_from, before)).without(places)
    return rights_from([*(one for one in now if one.place in places), *kept])


def rights_as_dict(marks: Sequence[str], said: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    """A stored record as readers get it: a word on every use, the licences that are named, and who said what."""
    known = dict(mark.split("=", 1) for mark in marks)
    statements = [dict(one) for one in said or ()]
    licences = list(dict.fromkeys(one["licence"] for one in statements if one["licence"]))
    return {
        **{str(use): known.get(use, str(Right.UNKNOWN)) for use in PageUse},
        "licences": licences,
        "statements": statements,
    }


def answers_in(rights: Mapping[str, Any]) -> dict[str, str]:
    """Of a record as readers get it: the uses about which something was said."""
    return {str(use): rights[use] for use in PageUse if rights[use] != Right.UNKNOWN}


def rights_in_words(rights: Mapping[str, Any]) -> str:
    """On one line; empty where nothing was said."""
    told = [f"{use} {answer}" for use, answer in answers_in(rights).items()]
    return "; ".join((*told, *(f"licence {one}" for one in rights["licences"])))


def marks_wanted(written: Iterable[str]) -> tuple[str, ...]:
    """Filters as people write them, each once; empty ones say nothing."""
    return tuple(dict.fromkeys(wanted_mark(one) for one in written if one.strip()))


def wanted_mark(written: str) -> str:
    """`train=allowed`, also written `rights.train=allowed`. Raises UsageError for what is no word of the vocabulary."""
    use, _, right = written.strip().lower().removeprefix("rights.").partition("=")
    if use not in set(PageUse) or right not in set(Right):
        raise UsageError(
            f"{one_line(written, 60)!r} is no filter of rights.",
            fix=f"Write USE=ANSWER, as train=allowed: one of {', '.join(PageUse)}, and one of {', '.join(Right)}.",
        )
    return f"{use}={right}"
