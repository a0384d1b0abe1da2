"""What a sentence tells a person to type, for those who have no terminal: the operation, or the page, that does it."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

import orjson

# A command between backquotes, or one that ends a sentence.
_COMMAND = re.compile(r"`headwater (?P<quoted>[^`]+)`|(?<![\w`./-])headwater (?P<bare>[a-z][^`]*?)(?=$|\.$|\. |; )")
_PLACE = re.compile(r"\{\w+(?::path)?\}")
# Of the usual sentences, the last of which is: `See its rules: headwater hosts robots harbour.example`.
_TOLD = re.compile(r"^(?P<before>(?:.*[.!] )?)(?P<told>[^:`.]+): headwater (?P<command>[a-z][^`]*)$")
# And: `headwater sources list` shows those there are.
_SHOWS = re.compile(r"^(?P<before>)`headwater (?P<command>[^`]+)` (?P<told>shows .+|lists .+)$")
LONGEST = 1_000
# Fields of bodies that are lists.
_LISTS = frozenset({"sources"})


class Way(NamedTuple):
    """`argument`: the name that its first word has in an address or a body. `{}` in `page` is that word."""

    method: str
    path: str
    argument: str = ""
    page: str = ""


SOURCE_PAGE, HOST_PAGE, SINK_PAGE = "/console/sources/{}", "/console/hosts/{}", "/console/settings/sinks/{}"
WAYS: Mapping[str, Way] = {
    "admin list": Way("GET", "/api/v1/users", page="/console/settings/users"),
    "admin token list": Way("GET", "/api/v1/tokens", page="/console/settings/tokens"),
    "crawl logs": Way("GET", "/api/v1/runs", "source", "/console/crawl"),
    "crawl resume": Way("POST", "/api/v1/crawl/resume", page="/console/crawl"),
    "crawl run": Way("POST", "/api/v1/crawl/run", "sources", SOURCE_PAGE),
    "docs search": Way("GET", "/api/v1/search", "q", "/console/documents"),
    "docs show": Way("GET", "/api/v1/documents/by-url", "url"),
    "explain": Way("GET", "/api/v1/explain", "url", "/console/frontier/url?url={}"),
    "fetch": Way("POST", "/api/v1/sources/fetch-metadata", "url"),
    "frontier add": Way("POST", "/api/v1/frontier/submit", "url", "/console/frontier/add"),
    "frontier list": Way("GET", "/api/v1/frontier", page="/console/frontier"),
    "frontier retry": Way("POST", "/api/v1/frontier/retry", page="/console/frontier"),
    "hosts list": Way("GET", "/api/v1/hosts", page="/console/hosts"),
    "hosts policy set": Way("PUT", "/api/v1/hosts/{host}/policy", page=HOST_PAGE),
    "hosts robots": Way("GET", "/api/v1/hosts/{host}/robots", page=HOST_PAGE),
    "hosts rules list": Way("GET", "/api/v1/url-rules"),
    "hosts show": Way("GET", "/api/v1/hosts/{host}", page=HOST_PAGE),
    "jobs search": Way("GET", "/api/v1/search", "q", "/console/jobs"),
    "jobs show": Way("GET", "/api/v1/jobs/{id}"),
    "sinks list": Way("GET", "/api/v1/sinks", page="/console/settings/sinks"),
    "sinks resume": Way("POST", "/api/v1/sinks/{name}/resume", page=SINK_PAGE),
    "sinks retry": Way("POST", "/api/v1/sinks/{name}/retry", page=SINK_PAGE),
    "sinks show": Way("GET", "/api/v1/sinks/{name}", page=SINK_PAGE),
    "sinks types": Way("GET", "/api/v1/sinks/types", page="/console/settings/sinks/add"),
    "sources add": Way("POST", "/api/v1/sources", "url", "/console/sources/add"),
    "sources edit": Way("PATCH", "/api/v1/sources/{id}", page=f"{SOURCE_PAGE}/settings"),
    "sources list": Way("GET", "/api/v1/sources", page="/console/sources"),
    "sources resume": Way("POST", "/api/v1/sources/{id}/resume", page=SOURCE_PAGE),
    "sources rm": Way("DELETE", "/api/v1/sources/{id}", page=SOURCE_PAGE),
    "sources run": Way("POST", "/api/v1/sources/{id}/run", page=SOURCE_PAGE),
    "sources show": Way("GET", "/api/v1/sources/{id}", page=SOURCE_PAGE),
    "sources simulate": Way("POST", "/api/v1/sources/{id}/simulate", page=SOURCE_PAGE),
    "sources test": Way("POST", "/api/v1/sources/{id}/test", page=SOURCE_PAGE),
    "takedown list": Way("GET", "/api/v1/takedowns", page="/console/settings/takedowns"),
    "takedown requests": Way("GET", "/api/v1/takedown-requests", page="/console/requests"),
    "takedown rm": Way("DELETE", "/api/v1/takedowns/{name}", page="/console/settings/takedowns"),
    "templates list": Way("GET", "/api/v1/templates"),
    "templates show": Way("GET", "/api/v1/templates/{host}"),
    "views list": Way("GET", "/api/v1/views", page="/console/views"),
    "workers list": Way("GET", "/api/v1/workers", page="/console/crawl"),
    "workers resume": Way("POST", "/api/v1/workers/{id}/resume", page="/console/crawl"),
}


# Of agents, who can call nothing else.
TOOLS: Mapping[str, str] = {
    "docs search": "search_documents",
    "docs show": "get_document",
    "explain": "explain",
    "jobs search": "search_jobs",
    "sources list": "list_sources",
    "sources show": "explain",
    "views list": "list_views",
    "frontier add": "queue_url",
}


class Typed(NamedTuple):
    """A command taken apart: its words, what they are about, and its options."""

    way: Way
    about: str
    fields: Mapping[str, str]


def in_http(told: str) -> str:
    """A sentence with operations in the place of commands that have one. Pure."""
    if len(told) > LONGEST or "headwater " not in told:
        return told
    return _COMMAND.sub(_replaced, told)


def _replaced(found: re.Match[str]) -> str:
    typed = typed_in(found["quoted"] or found["bare"])
    if typed is None:
        return found[0]
    return f"`{call_of(typed)}`" if found["quoted"] else call_of(typed)


def in_tools(told: str) -> str:
    """A sentence with the tools of agents in the place of commands that have one. Pure."""
    if len(told) > LONGEST or "headwater " not in told:
        return told
    return _COMMAND.sub(_tool_for, told)


def _tool_for(found: re.Match[str]) -> str:
    command = found["quoted"] or found["bare"]
    tool = next((tool for words, tool in TOOLS.items() if f"{command} ".startswith(f"{words} ")), "")
    return f"`{tool}`" if tool else found[0]


def typed_in(command: str) -> Typed | None:
    """None for a command of this machine alone. Pure."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    length = next((count for count in (3, 2, 1) if " ".join(words[:count]) in WAYS), 0)
    if not length:
        return None
    about, fields = _taken_apart(words[length:])
    return Typed(WAYS[" ".join(words[:length])], about, fields)


def _taken_apart(words: Sequence[str]) -> tuple[str, dict[str, str]]:
    about, fields, option = "", dict[str, str](), ""
    for word in words:
        name, sign, value = word.partition("=")
        if word.startswith("--"):
            option = word.removeprefix("--").replace("-", "_")
        elif option:
            fields[option], option = word, ""
        elif sign and name.isidentifier():
            fields[name] = value
        else:
            about = about or word
    return about, fields


def call_of(typed: Typed) -> str:
    """As a program makes it. Pure."""
    way, about = typed.way, typed.about
    path = _PLACE.sub(lambda _: quote(about, safe=""), way.path, count=1) if about else way.path
    fields = {**({way.argument: about} if way.argument and about else {}), **typed.fields}
    if not fields:
        return f"{way.method} {path}"
    if way.method in ("GET", "DELETE"):
        asked = "&".join(f"{name}={quote(value, safe='')}" for name, value in fields.items())
        return f"{way.method} {path}?{asked}"
    sent = {name: _value(name, value) for name, value in fields.items()}
    return f"{way.method} {path} with {orjson.dumps(sent).decode()}"


def _value(name: str, value: str) -> object:
    if name in _LISTS:
        return [value]
    return int(value) if value.isdecimal() else value


class PageWay(NamedTuple):
    """`before`: sentences that come first."""

    told: str
    href: str
    before: str = ""


def page_way(told: str) -> PageWay | None:
    """Of a sentence that ends with one command: its words, and the page where that is done. Pure."""
    found = _TOLD.match(told) or _SHOWS.match(told)
    typed = typed_in(found["command"]) if found else None
    if not found or not typed or not typed.way.page or ("{}" in typed.way.page and not typed.about):
        return None
    says = f"The page {found['told']}" if found["told"].startswith(("shows ", "lists ")) else found["told"]
    asked = "" if "?" in typed.way.page or not typed.fields else _asked(typed.fields)
    return PageWay(says, typed.way.page.format(quote(typed.about, safe="")) + asked, found["before"])


def _asked(fields: Mapping[str, str]) -> str:
    kept = {name: value for name, value in fields.items() if name in ("source", "status", "reason", "check")}
    return "?" + "&".join(f"{name}={quote(value, safe='')}" for name, value in kept.items()) if kept else ""
