"""The commonest reasons why a feed is not XML, taken away: stray ampersands, HTML's entities, control characters."""

import re
from html import escape
from html.entities import html5

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
# An unclosed section counts up to the end, or every one of a thousand would be looked for anew.
_SECTION_OR_AMPERSAND = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?:#([0-9]{1,7});|#[xX]([0-9A-Fa-f]{1,6});|([A-Za-z][A-Za-z0-9]{1,31};))?", re.DOTALL
)
_XML_ITSELF = frozenset({"amp;", "lt;", "gt;", "quot;", "apos;"})


def mend(text: str) -> str:
    return _SECTION_OR_AMPERSAND.sub(_mended_reference, _ILLEGAL.sub("", text))


def _mended_reference(found: re.Match[str]) -> str:
    decimal, hexadecimal, name = found.groups()
    if found[0].startswith("<"):
        return found[0]
    if decimal or hexadecimal:
        return found[0] if _is_legal(int(decimal) if decimal else int(hexadecimal, 16)) else ""
    if name in _XML_ITSELF:
        return found[0]
    # Not an entity: the ampersand of `?a=1&b=2` is meant as it stands.
    return escape(html5[name], quote=False) if name in html5 else "&amp;" + found[0][1:]


def _is_legal(number: int) -> bool:
    return number <= 0x10FFFF and not _ILLEGAL.match(chr(number))
