"""Everything on an article page that is not the article."""

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.simweb.world.markup import in_html
from headwater.simweb.world.templates.frame import Look


@dataclass(frozen=True, slots=True)
class Teaser:
    path: str
    title: str
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Comment:
    name: str
    remark: str


def cookie_banner(look: Look) -> str:
    return f"""<div id="cookie-banner" class="cookie-consent" role="dialog"><p>{look.label("cookies")}
<a href="/privacy">{look.label("privacy")}</a></p><button>{look.label("accept")}</button></div>"""


def share_buttons(look: Look, path: str) -> str:
    networks = ("Ping", "Chirper", "Mail")
    buttons = "".join(f'<li><a class="share-{n.lower()}" href="#share-{n.lower()}">{n}</a></li>' for n in networks)
    return f"""<div class="social-share"><span>{look.label("share")}</span><ul>{buttons}</ul>
<a class="print" rel="nofollow" href="/print{path}">⎙</a></div>"""


def link_list(teasers: Sequence[Teaser]) -> str:
    return "\n".join(f'<li><a href="{in_html(t.path)}">{in_html(t.title)}</a></li>' for t in teasers)


def related(look: Look, teasers: Sequence[Teaser]) -> str:
    return f"""<section class="related-articles"><h3>{look.label("related")}</h3><ul>
{link_list(teasers)}
</ul></section>"""


def sidebar(look: Look, teasers: Sequence[Teaser]) -> str:
    return f"""<aside class="sidebar"><div class="ad-slot">{look.label("advert")}</div>
<div class="widget most-read"><h4>{look.label("popular")}</h4><ol>
{link_list(teasers)}
</ol></div>
<div class="widget newsletter"><form action="/login"><label>{look.label("newsletter")}
<input type="email" name="mail"></label><button>{look.label("subscribe")}</button></form></div></aside>"""


def comments(look: Look, said: Sequence[Comment]) -> str:
    entries = "\n".join(
        f'<div class="comment"><b class="comment-author">{in_html(c.name)}</b><p>{in_html(c.remark)}</p></div>'
        for c in said
    )
    return f"""<section id="comments" class="comments"><h3>{look.label("comments")} ({len(said)})</h3>
{entries}
</section>"""
