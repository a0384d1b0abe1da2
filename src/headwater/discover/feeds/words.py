"""Words for people out of what feeds call text: markup removed, entities decoded, nothing left that could act."""

import re
from html import unescape

LONGEST_TITLE = 500
LONGEST_NAME = 200
LONGEST_SUMMARY = 1_000
# Markup takes room too: what is cut off before it is looked at costs nothing.
_MARKUP_PER_CHARACTER = 4

_BLOCK = re.compile(r"</?(?:p|div|br|hr|li|ul|ol|h[1-6]|t[dhr]|table|section|blockquote|pre)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?(?:-->|\Z)", re.DOTALL)
_CUT_TAG = re.compile(r"<[^<>]*\Z")
_SCRIPT = re.compile(r"<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
# Python refuses to make a number of thousands of digits, and no character has one of eight.
_IMPOSSIBLE_NUMBER = re.compile(r"&#[0-9]{8,};?")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_SURE_SIGN_OF_MARKUP = re.compile(r"</[A-Za-z]\w*\s*>|&(?:#\w{1,8}|[A-Za-z]\w{1,31});")


def plain(markup: str, longest: int) -> str:
    """One line of text; what is not a tag stays, so `1 < 2` survives and `<script>` only loses its tags."""
    if "<" in markup or "&" in markup:
        markup = _without_markup(markup, longest * _MARKUP_PER_CHARACTER)
    return one_line(markup, longest)


def _without_markup(markup: str, longest: int) -> str:
    if len(markup) > longest:
        markup = _CUT_TAG.sub("", markup[:longest])
    markup = _TAG.sub("", _BLOCK.sub(" ", markup))
    return unescape(_IMPOSSIBLE_NUMBER.sub("", markup))


def one_line(text: str, longest: int) -> str:
    # Counted generously, because white space collapses; a megabyte of it is nobody's title.
    text = text[: longest * 2]
    if not text.isprintable():
        text = _CONTROL.sub("", text)
    return " ".join(text.split())[:longest].rstrip()


def summary_from(markup: str) -> str:
    """Unlike a title a summary is cut from an article, scripts included."""
    return plain(_SCRIPT.sub(" ", markup[: LONGEST_SUMMARY * _MARKUP_PER_CHARACTER]), LONGEST_SUMMARY)


def looks_like_markup(text: str) -> bool:
    """Whether text that calls itself plain is HTML after all: it closes a tag or names a character."""
    return ("<" in text or "&" in text) and _SURE_SIGN_OF_MARKUP.search(text) is not None
