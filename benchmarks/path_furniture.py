"""What news sites carry around their articles: styles, scripts, menus, teasers, small print.

An article of the simulated web weighs 9 kB, one of a real news site 110 to 170 kB. What makes the difference is made
here, in the shares counted on eighty real pages, so that a parser and an extractor have as much to walk through. It is
plain ASCII: right in every charset a site may use.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, product
from zlib import crc32

from headwater.chance import Random

Piece = Callable[[Random], str]

# Mean bytes of each kind on the real pages.
STYLES, SCRIPTS, MENUS, SMALL_PRINT, ASIDES, DRAWINGS, TEASERS = 29_000, 54_000, 13_000, 8_500, 5_500, 3_500, 34_000
# Sites differ far more than their pages do: the middle one is a fifth lighter than the mean.
SPREAD = 0.6
SYLLABLES = ("ka", "lo", "mi", "ren", "su", "tav", "por", "ne", "dil", "gra", "ul", "ofe")
WORDS = tuple(map("".join, chain.from_iterable(product(SYLLABLES, repeat=length) for length in (1, 2, 3))))


@dataclass(frozen=True, slots=True)
class Furniture:
    """One site's, made once; only the teasers change from page to page."""

    head: bytes
    top: bytes
    teasers: tuple[bytes, ...]
    bottom: bytes

    def below(self, path: str) -> bytes:
        """Half of the site's teasers, a different half for each page."""
        first = crc32(path.encode()) % len(self.teasers)
        shown = (self.teasers * 2)[first : first + len(self.teasers) // 2]
        return b'<div class="river river--below">' + b"".join(shown) + b"</div>"


def furniture_of(random: Random) -> Furniture:
    weight = random.lognormvariate(-SPREAD * SPREAD / 2, SPREAD)

    def made(piece: Piece, size: int) -> str:
        return grown(piece, round(size * weight), random)

    drawings = f'<svg style="display:none" xmlns="http://www.w3.org/2000/svg">{made(drawing, DRAWINGS)}</svg>'
    asides = f'<aside class="rail"><ul>{made(menu_entry, ASIDES)}</ul></aside>'
    menus = f'<nav class="mega"><ul class="mega__list">{made(menu_entry, MENUS)}</ul></nav>'
    small_print = f'<footer class="foot"><ul>{made(menu_entry, SMALL_PRINT)}</ul></footer>'
    head = f"{made(preload, 3_000)}<style>{made(style_rule, STYLES)}</style>{made(script, SCRIPTS // 3)}"
    return Furniture(
        head=head.encode(),
        top=f"{drawings}{menus}".encode(),
        teasers=tuple(teaser(random).encode() for _ in range(max(2, round(2 * weight * TEASERS / 1_000)))),
        bottom=f"{asides}{small_print}{made(script, SCRIPTS * 2 // 3)}".encode(),
    )


def grown(piece: Piece, size: int, random: Random) -> str:
    """So many pieces that they just reach the size."""
    parts: list[str] = []
    while size > 0:
        parts.append(piece(random))
        size -= len(parts[-1])
    return "".join(parts)


def word(random: Random) -> str:
    return random.choice(WORDS)


def words(random: Random, count: int) -> str:
    return " ".join(random.choices(WORDS, k=count)).capitalize()


def style_rule(random: Random) -> str:
    name, shade = word(random), random.randrange(0x1000000)
    return (
        f".{name}__{word(random)}>.{name}{{display:flex;margin:0 {random.randint(0, 40)}px 12px;color:#{shade:06x}}}\n"
    )


def preload(random: Random) -> str:
    return f'<link rel="preload" as="script" href="/static/{random.randrange(1 << 40):x}/{word(random)}.js">\n'


def script(random: Random) -> str:
    piece = random.choice((statement, record))
    return f"<script>{grown(piece, 2_000, random)}</script>\n"


def statement(random: Random) -> str:
    a, b, number = word(random), word(random), random.randint(1, 999)
    return f"function {a}(t,e){{var n=t.{b}||{{}};return n[e]||(n[e]=window.{b}.get('{a}-{b}',{number})),n}}"


def record(random: Random) -> str:
    number = random.randrange(10**8)
    return (
        f'window.__state.push({{"id":{number},"kind":"{word(random)}","headline":"{words(random, 7)}",'
        f'"url":"/{word(random)}/{number}","width":{random.randint(100, 999)}}});\n'
    )


def drawing(random: Random) -> str:
    points = "".join(f"{random.choice('LCHVlchv')}{random.randint(-99, 99)} {random.random():.3f}" for _ in range(20))
    return f'<symbol id="{word(random)}" viewBox="0 0 24 24"><path d="M0 0{points}z"/></symbol>'


def menu_entry(random: Random) -> str:
    place, track = f"/section/{word(random)}/{word(random)}", f"{random.randrange(1 << 64):016x}"
    return (
        f'<li class="mega__item mega__item--{word(random)} mega__item--level-2" data-component="menu-entry">'
        f'<div class="mega__cell mega__cell--{word(random)}"><a class="mega__link mega__link--{word(random)}" '
        f'href="{place}" data-track="menu:{track}" data-track-place="header/{word(random)}/{word(random)}" '
        f'aria-label="{words(random, 2)}">{words(random, 2)}</a></div></li>\n'
    )


def teaser(random: Random) -> str:
    place = f"/section/{word(random)}/{random.randrange(10**8)}"
    pictures = ", ".join(
        f"/media/{random.randrange(1 << 40):x}-{width}.png {width}w" for width in (320, 640, 960, 1280)
    )
    return (
        f'<div class="card card--{word(random)}" data-id="{random.randrange(1 << 32):08x}"><div class="card__frame">'
        f'<div class="card__media"><img src="/media/{word(random)}.png" srcset="{pictures}" alt=""></div>'
        f'<div class="card__text"><div class="card__top"><span class="card__label">{words(random, 1)}</span></div>'
        f'<h3 class="card__title"><a href="{place}" data-track="river:{random.randrange(1 << 64):016x}">'
        f'{words(random, 9)}</a></h3><div class="card__lead"><p>{words(random, 14)}.</p></div>'
        f'<span class="card__time" data-at="{random.randrange(10**9)}">{random.randint(1, 23)} h</span></div>'
        "</div></div>\n"
    )
