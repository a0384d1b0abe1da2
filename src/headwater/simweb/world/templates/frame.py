"""What surrounds the content of every page of a site: head, navigation, footer."""

from dataclasses import dataclass
from functools import cached_property

from headwater.simweb.world.markup import in_html
from headwater.simweb.world.newsroom import Newsroom
from headwater.simweb.world.publishers import Publisher

FEED_TYPES = {
    "rss": "application/rss+xml",
    "rdf": "application/rss+xml",
    "atom": "application/atom+xml",
    "json": "application/feed+json",
}


@dataclass(frozen=True)
class Look:
    """What every page of one site has in common, rendered once."""

    publisher: Publisher
    sections: tuple[tuple[str, str], ...]  # path and label

    @classmethod
    def of(cls, newsroom: Newsroom) -> "Look":
        slugs, topics = newsroom.section_slugs, newsroom.topics
        return cls(
            newsroom.publisher,
            tuple((f"/section/{slug}", topic.section) for slug, topic in zip(slugs, topics, strict=True)),
        )

    def label(self, name: str) -> str:
        return in_html(self.publisher.speech.labels[name])

    @cached_property
    def direction(self) -> str:
        return ' dir="rtl"' if self.publisher.speech.is_right_to_left else ""

    @cached_property
    def name(self) -> str:
        return in_html(self.publisher.name)

    @cached_property
    def nav_links(self) -> str:
        sections = [f'<li><a href="{path}">{in_html(label)}</a></li>' for path, label in self.sections]
        fixed = [
            f'<li><a href="{path}">{self.label(name)}</a></li>' for path, name in (("/", "home"), ("/latest", "latest"))
        ]
        return "\n".join([*fixed, *sections])

    @cached_property
    def header(self) -> str:
        return f"""<header class="site-header"><a class="logo" href="/">{self.name}</a>
<form class="site-search" action="/search"><input name="q" placeholder="{self.label("search")}"></form>
<nav class="site-nav"><ul>
{self.nav_links}
</ul></nav>
<a class="login" href="/login">{self.label("login")}</a> <a href="/members/">{self.label("members")}</a></header>"""

    @cached_property
    def footer_links(self) -> str:
        return " | ".join(
            f'<a href="/{name}">{self.label(name)}</a>' for name in ("about", "contact", "privacy", "search")
        )

    @cached_property
    def footer(self) -> str:
        return f"""<footer class="site-footer"><p>{self.footer_links}</p>
<p>© {self.name}. {self.label("rights")}.</p></footer>"""

    @cached_property
    def feed_links(self) -> str:
        return "\n".join(
            f'<link rel="alternate" type="{FEED_TYPES[feed.kind]}" title="{self.name}" href="{feed.path}">'
            for feed in self.publisher.feeds
            if feed.is_linked
        )

    @cached_property
    def charset_tag(self) -> str:
        return f'<meta charset="{self.publisher.charset}">'


def document(look: Look, title: str, body: str, *, head: str = "", body_class: str = "") -> str:
    """A whole page with the site's usual surroundings; `title` as text, `body` and `head` as HTML."""
    return f"""<!DOCTYPE html>
<html lang="{look.publisher.language}"{look.direction}>
<head>
{look.charset_tag}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{in_html(title)}</title>
<link rel="stylesheet" href="/static/site.css">
{look.feed_links}
{head}
</head>
<body class="{body_class}">
{look.header}
{body}
{look.footer}
<script>window.pageViews = (window.pageViews || 0) + 1;</script>
</body>
</html>
"""
