"""The one way text gets into HTML, into XML and into a script element."""

import html
import json
import re
from collections.abc import Mapping
from unicodedata import normalize
from urllib.parse import quote

# XML 1.0 section 2.2: these cannot appear in a document, not even escaped.
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
CYRILLIC = "абвгдеёжзийклмнопрстуфхцчшщъыьэюя"
SPELLED = re.split(" ", "a b v g d e e zh z i i k l m n o p r s t u f h ts ch sh sch  y  e yu ya")
GERMANIC = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "œ": "oe"}
LATIN = str.maketrans(dict(zip(CYRILLIC, SPELLED, strict=True)) | GERMANIC)
ACCENTS = re.compile("[\u0300-\u036f]")
WORD_GAP = re.compile(r"[\W_]+")


def in_html(text: str) -> str:
    return html.escape(text)


def in_xml(text: str) -> str:
    return html.escape(NOT_XML.sub("", text))


def in_script(value: Mapping[str, object], charset: str = "utf-8") -> str:
    """JSON that cannot close the script element it stands in."""
    # Character references mean nothing inside a script: what a legacy charset lacks needs JSON's own escapes.
    return json.dumps(value, ensure_ascii=charset != "utf-8").replace("</", "<\\/")


def slug_of(text: str) -> str:
    """Words joined by hyphens; what has no Latin spelling here is percent-encoded, as real sites do."""
    spelled = WORD_GAP.sub("-", text.lower().translate(LATIN)).strip("-")
    if spelled.isascii():
        return spelled
    # Composed again afterwards: an Arabic hamza is no accent.
    return quote(normalize("NFC", ACCENTS.sub("", normalize("NFKD", spelled))))
