"""Validators of a run's further answers: what has not changed since the last run is not sent again. Pure.

A channel's first answer has its own in the channel's row. An answer that led on (an index to its sitemaps, a page to
the next) is remembered with where it led: unchanged it says nothing, and the way goes on all the same. One that came
from elsewhere, by a redirect, is remembered with where it came from: its validators mean nothing to anybody else.
"""

from collections.abc import Mapping
from typing import Any

from headwater.discover.polls.lease import Leased
from headwater.discover.polls.walk import Todo, Walk
from headwater.net.validators import Validators
from headwater.sources.channels import ChannelKind
from headwater.urls.canonical import CanonicalUrl, canonicalise

# An API's pages have one address, and what a search asks is read once.
WITHOUT_MEMORY = frozenset({ChannelKind.API, ChannelKind.SEARCH})


def validators_for(channel: Leased, walk: Walk) -> Validators:
    """What the present step may be asked with."""
    if channel.kind is ChannelKind.SEARCH:
        # It goes by what the page names, and by places that the page says nothing of.
        return Validators()
    if walk.is_first_step:
        return Validators(channel.etag, channel.last_modified)
    known = _known(channel, walk)
    return Validators(known.get("etag"), known.get("last_modified"))


def came_from(channel: Leased, walk: Walk) -> str:
    """The URL that gave these validators."""
    return str(_known(channel, walk).get("came_from", walk.step.url))


def remembered(channel: Leased, before: Walk, after: Walk, validators: Validators, answered_by: CanonicalUrl) -> Walk:
    """`after` the present step was read: with what is worth knowing when it is asked for again."""
    led_to = [_place(todo) for todo in after.todo[len(before.todo) :]]
    is_elsewhere = answered_by.url_hash != canonicalise(before.step.url).url_hash
    is_worth_it = bool(led_to) or is_elsewhere if before.is_first_step else validators != Validators()
    if channel.kind in WITHOUT_MEMORY or not is_worth_it:
        return after
    said = {} if before.is_first_step else {"etag": validators.etag, "last_modified": validators.last_modified}
    place = {"came_from": answered_by.url} if is_elsewhere else {}
    return _noted(after, before.step.url, {**said, **place, "led_to": led_to})


def led_on(channel: Leased, walk: Walk, validators: Validators, most: int) -> Walk:
    """The present step has not changed: the walk goes on where it led before."""
    known = _known(channel, walk)
    if not known:
        return walk
    renewed = {"etag": validators.etag, "last_modified": validators.last_modified}
    entry = {**known, **{name: value for name, value in renewed.items() if value and name in known}}
    return _noted(walk.ahead((_todo(place) for place in known["led_to"]), most), walk.step.url, entry)


def answers_of(walk: Walk) -> dict[str, Any]:
    """All of the run, for the next one."""
    return dict(walk.kept.get("answers", {}))


def _known(channel: Leased, walk: Walk) -> Mapping[str, Any]:
    known: Mapping[str, Any] = channel.answers.get(walk.step.url, {})
    return known


def _noted(walk: Walk, url: str, entry: Mapping[str, Any]) -> Walk:
    return walk.keeping(answers={**answers_of(walk), url: dict(entry)})


def _place(todo: Todo) -> list[Any]:
    return [todo.url, str(todo.reads_as), todo.depth, todo.is_next_page]


def _todo(place: list[Any]) -> Todo:
    url, reads_as, depth, is_next_page = place
    return Todo(url, ChannelKind(reads_as), depth, is_next_page=is_next_page)
