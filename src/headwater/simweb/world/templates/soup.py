"""The site nobody has touched since 2003: tables, fonts, unclosed tags, unquoted attributes, <br><br>."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from headwater.simweb.world.markup import in_html
from headwater.simweb.world.newsroom import Item
from headwater.simweb.world.templates.clutter import Teaser
from headwater.simweb.world.templates.frame import Look


class Columns(NamedTuple):
    """What stands in the cells of the table; the first two are HTML."""

    text: str
    under: str
    beside: Sequence[Teaser]
    below: Sequence[Teaser]


def soup(look: Look, item: Item, published: datetime, shown: Columns) -> str:
    return f"""<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">
<HTML lang={look.publisher.language}{look.direction}><HEAD>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset={look.publisher.charset}">
<TITLE>{look.name}: {in_html(item.title)}</TITLE>
<META NAME="author" CONTENT="{in_html(item.author)}">
<META NAME="date" CONTENT="{published.isoformat()}">
<META NAME="keywords" CONTENT="{in_html(", ".join(item.keywords))}">
<LINK REL=stylesheet HREF=/static/site.css>
{look.feed_links}
<BODY bgcolor=#ffffff text=#000000>
<table width=100% border=0><tr><td colspan=3><a href=/><b><font size=5>{look.name}</font></b></a>
<tr valign=top><td width=140 class=menu><ul>
{look.nav_links.replace("</li>", "")}
</ul>{_links(shown.below)}
<td><h1><font face=Verdana>{in_html(item.title)}</font></h1>
<i>{look.label("by")} {in_html(item.author)}, {published:%d.%m.%Y}</i>
<div style="font-size:13px;margin:4px 0 20px" class=text>
{shown.text}
</div>{shown.under}
<a href=/latest>{look.label("latest")}</a>
<td width=160 bgcolor=#eeeeee><center><b>{look.label("related")}</b></center>
{_links(shown.beside)}
<p><font size=1>{look.label("advert")}
</table>
<hr><center><font size=1>{look.footer_links}<p>© {look.name}, {look.label("rights")}</font></center>
</BODY>
"""


def _links(teasers: Sequence[Teaser]) -> str:
    return "\n".join(f'<p><a href="{in_html(t.path)}"><small>{in_html(t.title)}</small></a>' for t in teasers)
