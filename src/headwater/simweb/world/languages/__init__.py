"""What the world's texts are made of: per language a few topics, names and sentence patterns.

A pattern holds slots: {actor} {thing} {verb} {when} {place} {person} {number} {percent} {year}.
Phrases are whole and already inflected, so any filling of any slot is grammatical: `things` are
objects, `actors` subjects, `verbs` the form that fits every actor.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Topic:
    section: str
    actors: tuple[str, ...]
    things: tuple[str, ...]
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    code: str
    homes: tuple[tuple[str, str], ...]  # country and its time zone
    legacy_charset: str
    papers: tuple[tuple[str, ...], tuple[str, ...]]  # the two halves of a publisher's name
    first_names: tuple[str, ...]
    last_names: tuple[str, ...]
    places: tuple[str, ...]
    verbs: tuple[str, ...]
    whens: tuple[str, ...]
    titles: tuple[str, ...]
    sentences: tuple[str, ...]
    updates: tuple[str, ...]
    remarks: tuple[str, ...]  # what readers write under an article
    topics: tuple[Topic, ...]
    labels: Mapping[str, str]
    is_right_to_left: bool = False


def lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.strip().splitlines())


def words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(","))


def topic(section: str, keywords: str, actors: str, things: str) -> Topic:
    return Topic(section, lines(actors), lines(things), words(keywords))


def labels(text: str) -> Mapping[str, str]:
    """Lines of `name: what the site says`."""
    return {name: said.strip() for name, _, said in (line.partition(":") for line in lines(text))}
