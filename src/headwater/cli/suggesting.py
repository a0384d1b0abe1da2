"""The command that was meant: synonyms that people bring from other programs first, then near spellings."""

from collections.abc import Collection, Sequence
from difflib import get_close_matches

from cyclopts import App

from headwater.cli.examples import EXAMPLES

# Of commands inside a group.
SYNONYMS = {
    "remove": ("rm",),
    "delete": ("rm",),
    "del": ("rm",),
    "unsubscribe": ("rm",),
    "ls": ("list",),
    "all": ("list",),
    "index": ("list",),
    "new": ("add",),
    "create": ("add", "init"),
    "subscribe": ("add",),
    "follow": ("add",),
    "get": ("show",),
    "info": ("show", "status"),
    "view": ("show",),
    "cat": ("show",),
    "inspect": ("show", "explain"),
    "describe": ("show",),
    "find": ("search", "list"),
    "query": ("search",),
    "grep": ("search",),
    "update": ("edit", "set"),
    "set": ("edit",),
    "change": ("edit",),
    "modify": ("edit",),
    "stop": ("pause",),
    "disable": ("pause",),
    "start": ("resume", "run"),
    "enable": ("resume",),
    "unpause": ("resume",),
    "unblock": ("resume",),
    "poll": ("run",),
    "refresh": ("run",),
    "try": ("test",),
    "check": ("test", "status"),
    "preview": ("simulate",),
    "load": ("import",),
    "save": ("export",),
    "dump": ("export",),
    "log": ("logs",),
    "history": ("logs",),
    "upgrade": ("migrate",),
    "psql": ("shell",),
    "downgrade": ("rollback",),
    "lift": ("rm",),
    "learn": ("relearn",),
    "replay": ("reextract",),
}
# Of the first word, where a group or a command inside of one may be meant.
AT_THE_TOP = {
    "add": "sources add",
    "follow": "sources add",
    "subscribe": "sources add",
    "import": "sources import",
    "export": "sources export",
    "opml": "sources import",
    "feeds": "sources",
    "feed": "sources",
    "channels": "sources",
    "publishers": "sources",
    "list": "sources list",
    "ls": "sources list",
    "rm": "sources rm",
    "search": "docs search",
    "documents": "docs",
    "articles": "docs",
    "archive": "docs",
    "vacancies": "jobs",
    "queue": "frontier",
    "urls": "frontier",
    "init": "config init",
    "settings": "config",
    "setup": "config init",
    "log": "crawl logs",
    "logs": "crawl logs",
    "poll": "crawl run-due",
    "start": "up",
    "serve": "up",
    "server": "up",
    "why": "explain",
    "health": "doctor",
    "check": "doctor",
    "robots": "hosts robots",
    "policy": "hosts policy",
    "block": "takedown add",
    "get": "fetch",
    "curl": "fetch",
    "migrate": "db migrate",
    "schedule": "status --show-schedule",
    "top": "status --watch",
    "watch": "status --watch",
}
LEAST_LIKENESS = 0.6


def closest_word(word: str, known: Collection[str], *, is_first: bool) -> str | None:
    """One of `known`, or at the top also a command inside of one."""
    said = word.lower()
    if is_first and AT_THE_TOP.get(said, "").split(" ")[0] in known:
        return AT_THE_TOP[said]
    for synonym in SYNONYMS.get(said, ()):
        if synonym in known:
            return synonym
    near = get_close_matches(said, known, 1, LEAST_LIKENESS)
    return near[0] if near else None


def names_of(group: App) -> list[str]:
    return [name for name in group if not name.startswith("-")]


def command_in(app: App, tokens: Sequence[str]) -> list[str]:
    """The first words that name a command, as far as they do; options before them are skipped."""
    path: list[str] = []
    group, words = app, iter(tokens)
    for word in words:
        if word in ("--set", "--config"):
            next(words, None)
        elif not word.startswith("-"):
            if word not in names_of(group):
                break
            path.append(word)
            group = group[word]
    return path


def misread(error: str, arguments: Sequence[str], path: Sequence[str]) -> tuple[str, str]:
    """The fault in the arguments of the command at `path`, and its remedy."""
    command = " ".join(path)
    if "-" in arguments and error.startswith("Unknown option: -."):
        example = EXAMPLES.get(command, ("",))[0]
        return f"`headwater {command}` does not read standard input.", f"Write it out, for example: {example}"
    return error, f"Its arguments and options: {' '.join(('headwater', *path, '--help'))}"


def unknown_command(app: App, word: str, path: Sequence[str]) -> tuple[str, str]:
    """The fault in `word` behind the commands of `path`, and its remedy."""
    group = app
    for name in path:
        group = group[name]
    known, before = names_of(group), " ".join(("headwater", *path))
    if not known:
        return f"`{before}` takes no {word!r}.", f"Its arguments and options: {before} --help"
    if meant := closest_word(word, known, is_first=not path):
        return f"There is no command `{before} {word}`.", f"Did you mean: {before} {meant}"
    listed = f"One of: {', '.join(sorted(known))}." if path else "All commands: headwater --help"
    return f"There is no command `{before} {word}`.", listed
