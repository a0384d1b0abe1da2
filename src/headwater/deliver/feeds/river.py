"""The river: a page of the newest entries, day by day, to be read without scripts and without another file."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from datetime import UTC, date
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import groupby

from headwater.deliver.feeds.entries import FeedAbout, FeedEntry, moment_in_feed

# Names of the files beside it, and what a reader calls them.
BESIDE = (("atom.xml", "Atom"), ("feed.json", "JSON Feed"), ("sources.opml", "OPML"))
_KINDS = {"atom.xml": "application/atom+xml", "feed.json": "application/feed+json", "sources.opml": "text/x-opml"}


def river_page(about: FeedAbout, entries: Sequence[FeedEntry]) -> str:
    """The newest first, as they are given."""
    days = groupby(entries, key=lambda one: one.published_at.astimezone(UTC).date())
    body = "".join(_day(day, list(of_day)) for day, of_day in days)
    return "".join(
        (
            f'<!doctype html>\n<html lang="en">\n{_head(about)}<body>\n<div class="page">\n',
            _masthead(about, len(entries)),
            f"<main>\n{body or _EMPTY}</main>\n",
            "<footer>Times are UTC. Each title leads to the page it was read from.</footer>\n",
            "</div>\n</body>\n</html>\n",
        )
    )


_EMPTY = '<p class="nothing">Nothing has come down the river yet.</p>\n'


@cache
def _style() -> str:
    return files(__package__).joinpath("river.css").read_text("utf-8")


@cache
def _policy() -> str:
    """Nothing may be loaded, run or sent: only this very style counts."""
    digest = b64encode(sha256(_style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _head(about: FeedAbout) -> str:
    links = "".join(
        f'<link rel="alternate" type="{_KINDS[name]}" title="{label}" href="{name}">\n' for name, label in BESIDE
    )
    return "".join(
        (
            '<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(_policy())}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            '<meta name="referrer" content="no-referrer">\n',
            f"<title>{escape(about.title)}</title>\n{links}<style>{_style()}</style>\n</head>\n",
        )
    )


def _masthead(about: FeedAbout, count: int) -> str:
    links = "".join(f'<a href="{name}">{label}</a>' for name, label in BESIDE)
    shown = f"The newest {count:,}" if count != 1 else "The newest"
    when = f'<time datetime="{moment_in_feed(about.updated_at)}">{_moment(about)}</time>'
    return (
        f'<header>\n<h1 dir="auto">{escape(about.title)}</h1>\n'
        f'<div class="about"><span>{shown}, as of {when}</span><nav aria-label="Feeds">{links}</nav></div>\n</header>\n'
    )


def _moment(about: FeedAbout) -> str:
    return f"{about.updated_at.astimezone(UTC):%-d %B %Y, %H:%M} UTC"


def _day(day: date, entries: Iterable[FeedEntry]) -> str:
    items = "".join(f"<li>{_article(one)}</li>\n" for one in entries)
    return (
        f'<section>\n<h2><time datetime="{day.isoformat()}">{day:%A, %-d %B %Y}</time></h2>\n'
        f"<ol>\n{items}</ol>\n</section>\n"
    )


def _article(entry: FeedEntry) -> str:
    language = f' lang="{escape(entry.language)}"' if entry.language else ""
    title = escape(entry.title)
    linked = f'<a href="{escape(entry.url)}" rel="noreferrer">{title}</a>' if entry.url else title
    at, clock = moment_in_feed(entry.published_at), f"{entry.published_at.astimezone(UTC):%H:%M}"
    said = [f'<span class="source"><bdi>{escape(entry.source)}</bdi></span>'] if entry.source else []
    said += [f"<span><bdi>{escape(one)}</bdi></span>" for one in entry.facts or _by(entry)]
    words = f'<p class="words" dir="auto"{language}>{escape(entry.summary)}</p>' if entry.summary else ""
    return (
        f'<article><time datetime="{at}">{clock}</time><div>'
        f'<h3 dir="auto"{language}>{linked}</h3>'
        f'<p class="from"><span class="clock">{clock}</span>{"".join(said)}</p>{words}</div></article>'
    )


def _by(entry: FeedEntry) -> tuple[str, ...]:
    return (entry.author,) if entry.author and entry.author != entry.source else ()
