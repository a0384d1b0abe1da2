"""Strings that came from a page, made safe to store, compare and count. Nothing here knows HTML."""

import re
import unicodedata
from hashlib import sha256
from html import unescape

from headwater.storable import UNWANTED, one_line

LONGEST_TEXT = 1_000_000
LONGEST_LINE = 1_000

# White space of code, as signs that no page uses: see `preformatted`. Printable, or readers would drop them.
KEPT_BREAK, KEPT_SPACE, KEPT_TAB = "\U0001d0f0", "\U0001d0f1", "\U0001d0f2"
_KEPT = re.compile(f"[{KEPT_BREAK}{KEPT_SPACE}{KEPT_TAB}]")
# Begun only where a run begins, and never given back: a long run without a break is read twice, not at each sign.
_RUN = rf"[ {KEPT_SPACE}{KEPT_TAB}]*+{KEPT_BREAK}"
_KEPT_BREAKS = re.compile(rf"(?<![ {KEPT_SPACE}{KEPT_TAB}]){_RUN}(?:{_RUN})*+")
_SHOWN = str.maketrans({KEPT_BREAK: "\n", KEPT_SPACE: " ", KEPT_TAB: "\t"})

_ODD_SPACES = re.compile(r"[\x0b\x0c\x85]")
# Both in UTF-8. One pattern each: with a fixed first byte they are searched for as fast as memory is read.
_ODD_BYTES = bytes({*range(0x20), 0x7F} - set(b"\t\n\r"))
_ODD_SEQUENCES = (re.compile(rb"\xc2[\x80-\x9f]"), re.compile(rb"\xef\xbf[\xbe\xbf]"))
# Of UTF-8: the signs of ASCII are made spaces at once, the others are looked for among what is no ASCII.
_ONLY_LETTERS = bytes(byte if byte >= 0x80 or chr(byte).isalnum() else 0x20 for byte in range(256))
_OTHER_SIGNS = re.compile(r"[^\x00-\x7f\w]+")
# Scripts written without spaces: a reader's word is about two of their characters.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_WORD = re.compile(r"\w+")
_CHARACTERS_PER_WORD = 2
# The bytes that such characters begin with in UTF-8: of two bytes are Latin, Greek, Cyrillic, Hebrew and Arabic, and
# with E2 begins what is set around words.
_BEGINNINGS = bytes((0xE0, 0xE1, *range(0xE3, 0xEA), 0xEF))


def storable(text: str, limit: int = LONGEST_TEXT) -> str:
    cut = text[:limit]
    return cut if _is_plain(cut) else UNWANTED.sub("", _ODD_SPACES.sub(" ", cut))


def _is_plain(text: str) -> bool:
    """Nothing to replace, as in nearly every page: told in a tenth of the time that looking for it takes."""
    if text.isprintable():
        return True
    try:
        written = text.encode()
    except UnicodeEncodeError:
        return False
    return _are_plain(written)


def _are_plain(written: bytes) -> bool:
    has_controls = len(written.translate(None, _ODD_BYTES)) < len(written)
    return not has_controls and (written.isascii() or not any(odd.search(written) for odd in _ODD_SEQUENCES))


def page_line(text: str, limit: int = LONGEST_LINE) -> str:
    """One line of a page's text: white space of its code counts as any other."""
    return one_line(text if text.isascii() else _KEPT.sub(" ", text[: limit * 10]), limit)


def unescape_line(text: str, limit: int = LONGEST_LINE) -> str:
    """One line of what a publisher escaped once too often: `doesn&amp;#8217;t` in JSON or in an attribute."""
    return page_line(unescape(text[: limit * 10]) if "&" in text else text, limit)


def tidy(lines: list[str]) -> str:
    """One paragraph a line, none of them empty; code has its own lines, and their indentation."""
    written = (restore_white_space(" ".join(storable(line).split())) for line in lines)
    return "\n".join(line for line in written if line)[:LONGEST_TEXT].rstrip()


def restore_white_space(text: str) -> str:
    """With the white space that code was kept with; no line is empty, as between paragraphs."""
    if text.isascii() or not _KEPT.search(text):
        return text
    return _KEPT_BREAKS.sub("\n", text).translate(_SHOWN).strip("\n").rstrip()


def shown_code(text: str) -> str:
    """All lines of code that was kept, also the empty ones between the first and the last."""
    return text.translate(_SHOWN).strip("\n").rstrip()


def comparable(text: str) -> str:
    """Two spellings of one sentence become equal: punctuation, case and white space do not count."""
    letters = text.encode(errors="surrogatepass").translate(_ONLY_LETTERS).decode(errors="surrogatepass")
    return " ".join((letters if letters.isascii() else _OTHER_SIGNS.sub(" ", letters)).split()).casefold()


def count_words(text: str) -> int:
    """Words between white space; where a script has none, characters stand in for them."""
    if _is_spaced(text):
        return len(text.split())
    spaced, unspaced = _UNSPACED_CHARACTER.subn(" ", text)
    return len(spaced.split()) + unspaced // _CHARACTERS_PER_WORD


def tokens(text: str) -> list[str]:
    # The same for nearly every text, and twice as fast.
    return (_WORD if _is_spaced(text) else _TOKEN).findall(text.casefold())


def _is_spaced(text: str) -> bool:
    """Whether no character is of a script without spaces; by the bytes, before each character is looked at."""
    if text.isascii():
        return True
    written = text.encode(errors="surrogatepass")
    return len(written.translate(None, _BEGINNINGS)) == len(written) or not _UNSPACED_CHARACTER.search(text)


def content_hash(text: str) -> str:
    """Equal for texts that differ only in white space and in how accents are composed."""
    return sha256(" ".join(unicodedata.normalize("NFC", text).split()).encode()).hexdigest()
