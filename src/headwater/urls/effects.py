"""URLs that do something when they are fetched: log out, delete, buy, unsubscribe. Whole segments and values only."""

import re
from collections.abc import Sequence
from itertools import pairwise

from headwater.urls.canonical import CanonicalUrl

Pair = tuple[str, str]

_LEAVING = frozenset(
    {"logout", "log-out", "log_out", "logoff", "log-off", "log_off", "signout", "sign-out", "sign_out", "signoff"}
)
_DELETING = frozenset({"delete", "remove", "destroy", "unsubscribe"})
_BUYING = frozenset(
    {
        *("add-to-cart", "add_to_cart", "addtocart", "add-to-basket", "add_to_basket", "addtobasket"),
        *("add-to-wishlist", "add_to_wishlist", "remove-from-cart", "remove_from_cart", "remove_item"),
    }
)
_SEGMENTS = _LEAVING | _DELETING | _BUYING
_CARTS = frozenset({"cart", "basket", "wishlist"})
_CART_VERBS = frozenset({"add", "remove", "update", "clear", "delete", "empty"})
# Manuals have pages about `docker logout` and DELETE; sites have tags and dated stories of that name.
_MANUALS = frozenset(
    {
        *("doc", "docs", "documentation", "reference", "manual", "manuals", "man", "guide", "guides", "tutorial"),
        *("tutorials", "command", "commands", "cli", "help", "kb", "faq", "wiki", "glossary", "dictionary"),
    }
)
_SHELVES = frozenset({"tag", "tags", "topic", "topics", "category", "categories"})
_DATED = re.compile(r"(?:^|/)(?:19|20)\d\d/[01]?\d(?:/[0-3]?\d)?$")

_SCRIPT = re.compile(r"\.(?:php|aspx?|jsp|cgi|do|html?)$")
# A one-time token is for a form that changes something.
_TOKENS = frozenset({"_wpnonce", "authenticity_token", "csrf_token", "csrfmiddlewaretoken", "sesskey"})
_NAMES = _SEGMENTS | _TOKENS | {"replytocom"}
_VERB_NAMES = frozenset({"do", "op", "cmd", "task", "act", "action", "wc-ajax", "_method"})
_VERBS = _SEGMENTS | {
    *("add", "edit", "save", "submit", "update", "vote", "upvote", "downvote", "like", "report", "buy", "login"),
    *("register", "subscribe", "purge", "rollback", "revert", "protect", "watch", "unwatch", "upload", "reset"),
}
# `user.logout`, `delete_comment`: a verb among the words of a value, where no word of an article is likely.
_HARD_WORDS = _LEAVING | _DELETING
_BETWEEN_WORDS = re.compile(r"[._-]")


def has_effects(url: CanonicalUrl) -> bool:
    """Looks at the key."""
    return effects_in(url.path.lower().strip("/").split("/"), pairs_of(url.query.lower()))


def effects_in(segments: Sequence[str], pairs: Sequence[Pair]) -> bool:
    return _acts_by_path(segments) or any(map(_acts, pairs))


def pairs_of(query: str) -> list[Pair]:
    if not query:
        return []
    return [(name, value) for name, _, value in (pair.partition("=") for pair in query.split("&"))]


def _acts_by_path(segments: Sequence[str]) -> bool:
    names = [_SCRIPT.sub("", segment) for segment in segments]
    if any(here in _CARTS and there in _CART_VERBS for here, there in pairwise(names)):
        return True
    return any(name in _SEGMENTS and not _is_about(name, names[:place]) for place, name in enumerate(names))


def _is_about(name: str, before: Sequence[str]) -> bool:
    """Whether a page of this name tells of the deed instead of doing it."""
    if not _MANUALS.isdisjoint(before):
        return True
    is_on_shelf = bool(before) and before[-1] in _SHELVES
    return name in _DELETING and (is_on_shelf or _DATED.search("/".join(before)) is not None)


def _acts(pair: Pair) -> bool:
    name, value = pair
    if name in _NAMES:
        return True
    if name not in _VERB_NAMES:
        return False
    return value in _VERBS or not _HARD_WORDS.isdisjoint(_BETWEEN_WORDS.split(value))
