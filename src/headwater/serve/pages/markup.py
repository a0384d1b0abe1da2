"""HTML made of values: every text is escaped unless a function here made it. Pure."""

import re
from html import escape

_CODE = re.compile(r"`([^`]+)`")
VOID = frozenset({"meta", "link", "br", "input", "hr", "col"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(name: str, /, *children: str | None, **attributes: str) -> Markup:
    """`class_` and `for_` are named so for Python's sake; an attribute with an empty text is left out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items() if value
    )
    return Markup(f"<{name}{given}>" if name in VOID else f"<{name}{given}>{joined(*children)}</{name}>")


def joined(*children: str | None) -> Markup:
    return Markup("".join(one if isinstance(one, Markup) else escape(one) for one in children if one))


def prose(text: str) -> Markup:
    """A sentence in which `names` stand between backquotes."""
    return Markup(_CODE.sub(r"<code>\1</code>", escape(text, quote=False)))


def paragraphs(text: str) -> Markup:
    parts = (" ".join(part.split()) for part in text.split("\n\n"))
    return joined(*(element("p", prose(part)) for part in parts if part))


def code(text: str) -> Markup:
    """Lines to be copied; by keyboard they can be scrolled."""
    return element("pre", element("code", text), tabindex="0")
