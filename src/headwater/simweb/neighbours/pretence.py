"""Pages that are not what they seem: they call others' pages canonical, hide words, or list addresses that act."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlsplit

from headwater.simweb.message import Page, Site
from headwater.simweb.neighbours.plan import DOMAIN, Pages, Plan, Stand, Written, always, with_feed
from headwater.simweb.neighbours.words import LONG_AGO, Item, article, canary, lines, rss
from headwater.simweb.world import prose
from headwater.simweb.world.languages.en import ENGLISH
from headwater.simweb.world.sitemaps import Place, urlset

HOMES = "homes.test"  # one host, many authors
# Tenants of a shared domain: the public suffix list says that they are strangers, their names look like one site's.
TENANT = "www.github.io"
TENANTS_BESIDE = ("m.github.io", "amp.github.io")
EFFECTS = f"effects.{DOMAIN}"
HIDDEN = f"hidden.{DOMAIN}"
POSTS = 4
NOINDEX = '<meta name="robots" content="noindex">'


def false_canonical(plan: Plan, others: Mapping[str, Site]) -> Stand:
    """Pages that call another author's page canonical, on a host they share and across a shared domain.

    Alice and the tenant are honest, and part of the attack only because they live there.
    """
    homes = {**alice(HOMES, "/~alice"), **pretender("/~mallory", f"http://{HOMES}/~alice", 0)}
    sites: dict[str, Site] = {HOMES: Pages(homes), TENANT: Pages(alice(TENANT, ""))}
    followed = [
        with_feed("false_canonical", f"http://{HOMES}/~alice/", is_hostile=False),
        with_feed("false_canonical", f"http://{TENANT}/", is_hostile=False),
        with_feed("false_canonical", f"http://{HOMES}/~mallory/"),
    ]
    for number, host in enumerate(TENANTS_BESIDE, start=1):
        sites[host] = Pages(pretender("", f"http://{TENANT}", number * POSTS, host))
        followed.append(with_feed("false_canonical", f"http://{host}/"))
    return Stand(sites, tuple(followed))


def alice(host: str, home: str) -> dict[str, Written]:
    """Four honest posts and their feed."""
    urls = [f"http://{host}{home}/post-{n}" for n in range(POSTS)]
    posts = {f"{home}/post-{n}": always(article(f"Post {n} of {host}", honest_lines(host, n))) for n in range(POSTS)}
    items = [Item(url, f"Post {n} of {host}", "Alice", LONG_AGO + timedelta(n)) for n, url in enumerate(urls)]
    return {**posts, f"{home}/feed.xml": always(rss("Alice", items))}


def honest_lines(host: str, number: int) -> list[str]:
    voice = prose.voice_of(ENGLISH, ENGLISH.topics[number % len(ENGLISH.topics)])
    return list(prose.paragraphs(voice, sum(host.encode()) * 1000 + number))


def pretender(home: str, target: str, first: int, host: str = HOMES) -> dict[str, Written]:
    """Four pages with words of their own that name the posts of `target` as canonical, every second with noindex."""
    pages, items = {}, []
    for n in range(POSTS):
        mark = canary("false_canonical", first + n)
        head = f'<link rel="canonical" href="{target}/post-{n}">{NOINDEX if n % 2 else ""}'
        pages[f"{home}/x-{n}"] = always(article(f"Page {mark}", lines("false_canonical", first + n), head=head))
        items.append(Item(f"http://{host}{home}/x-{n}", f"Page {mark}", "Mallory", LONG_AGO + timedelta(n)))
    return {**pages, f"{home}/feed.xml": always(rss("Mallory", items))}


ACTING = ("/logout", "/account?action=delete&id=7", "/shop?add-to-cart=1", "/delete?id=7")


def effects(plan: Plan, others: Mapping[str, Site]) -> Stand:
    """A feed and a sitemap that list addresses which act when they are asked for, its own and other publishers'."""
    hosts = [EFFECTS, *{urlsplit(url).netloc: None for url in plan.articles}]
    urls = [f"http://{host}{target}" for host in hosts for target in ACTING]
    feed = rss("Offers", [Item(url, f"Offer {canary('effects', n)}") for n, url in enumerate(urls)])
    sitemap = Page(urlset(Place(url, LONG_AGO) for url in urls).encode(), "application/xml")
    done = always(article("Done", ["As you wish."]))
    paths = {urlsplit(target).path: done for target in ACTING}
    site = Pages({**paths, "/feed.xml": always(feed), "/sitemap.xml": always(sitemap)})
    followed = with_feed("effects", f"http://{EFFECTS}/")
    return Stand({EFFECTS: site}, (replace(followed, sitemaps=(f"http://{EFFECTS}/sitemap.xml",)),))


HIDING: Mapping[str, str] = {
    "off_screen": '<p style="position:absolute;left:-9999px">{}</p>',
    "without_size": '<p style="font-size:0">{}</p>',
    "aria_hidden": '<div aria-hidden="true"><p>{}</p></div>',
    "white_on_white": '<p style="color:#fff;background:#fff">{}</p>',
    "unseen_comment": '<div class="comment" style="display:none"><p>{}</p></div>',
    "comment": '<div class="comment"><p>{}</p></div>',
}


def hidden_text(plan: Plan, others: Mapping[str, Site]) -> Stand:
    """Ordinary articles in which each way of hiding words is used once, at most a twentieth of the text."""
    pages: dict[str, Written] = {}
    for n, way in enumerate(HIDING.values()):
        said = f"A sentence that no reader sees, by {canary('hidden_text', n)}."
        seen: Sequence[str] = honest_lines(HIDDEN, n)
        pages[f"/story-{n}"] = always(article(f"Story {n}", seen, inside=way.format(said)))
    urls = [f"http://{HIDDEN}/story-{n}" for n in range(len(HIDING))]
    items = [Item(url, f"Story {n}", "Bob", LONG_AGO + timedelta(n)) for n, url in enumerate(urls)]
    pages["/feed.xml"] = always(rss("Bob", items))
    return Stand({HIDDEN: Pages(pages)}, (with_feed("hidden_text", f"http://{HIDDEN}/"),))
