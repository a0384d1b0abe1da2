"""Names in a byline: without "by", roles, places, addresses and what else stands between them. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator

from headwater.extraction.site_names import SiteNames, squeeze
from headwater.extraction.text import page_line
from headwater.languages import AND, BEFORE_BY, BY, PICTURED_BY, ROLES, fold, month_of, weekday_of

MOST_AUTHORS = 20
_LONGEST, _LONGEST_NAME, _MOST_WORDS, _LONGEST_EASTERN = 300, 100, 6, 10
_LONGEST_ABBREVIATION = 4  # with its full stop
# They write for many papers, and are named where nobody is.
_AGENCY_NAMES = """
agencies, agentur, agenturen, agences, agencias, agenzie, anadolu ajansı,
aa, aap, adnkronos, afp, afp relaxnews, agerpres, agi, ani,
anp, agence france-presse, anadolu, ansa, antara, ap, ap news, apa, associated press, ats, belga, bernama, bloomberg,
bloomberg news, canadian press, cnn wire, ctk, dapd, dha, dpa, dpa-infocom, dts, efe, epd, europa press, ians, iha,
interfax, jiji, keystone-sda, kna, kyodo, lapresse, lusa, mti, newsis, ntb, ots, pa, pa media, pap, press association,
pti, reuters, ria novosti, ritzau, sda, sid, stt, tanjug, tass, the associated press, the canadian press, tt,
ukrinform, upi, xinhua, yonhap, тасс, интерфакс, 共同通信, 時事通信, 新华社, 연합뉴스, 뉴스1, 뉴시스
"""
# They stay small inside of names.
_PARTICLE_WORDS = "von van de der den del della la le da dos das do di du bin ibn al el ten ter y e zu af"
# On buttons and headings of what holds an author.
_NO_NAME_WORDS = """
all about author comments contact copyright email follow listen more news person posts print profile published read
reserved rights save share sign subscribe the updated view alle alles artikel autor beitrage folgen gesponserte
inhalte lesen mehr mitarbeiter teilen uber lire plus suivre leer mas seguir ver
"""


def _alternatives(words: Iterable[str]) -> str:
    """For a pattern: the longest first, so that none hides a longer one."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_BY = re.compile(rf"^(?:(?:{_alternatives(BEFORE_BY)})\s+)?(?:{_alternatives(BY)})(?:[\s:]+|$)", re.IGNORECASE)
_PICTURED = re.compile(rf"(?:{_alternatives(PICTURED_BY)})\b.{{0,20}}?:", re.IGNORECASE)
_EMAIL = re.compile(r"\(?\S{1,80}@\S{1,80}\)?")
_ASIDE = re.compile(r"\s*[(\[][^)\]]{0,100}[)\]]")
_TAG = re.compile(r"<[^<>]{0,300}>")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_LIST = re.compile(r"\s*[,;/·•&、，]\s*|\s+[–—-]\s+")
_AND = re.compile(rf"\s+({_alternatives(AND)})\s+")
_SURELY_AND = frozenset({"and", "And", "AND", "und", "et", "og", "och", "ve", "и", "та", "και"})
# What follows a name: for whom, from where, when.
_AFTER = re.compile(r"\s+(?:[fF]or|für|pour|per|voor|in|aus|à|em|at)\s+(?=[A-ZÀ-ÞА-Я]).*$|\s+[@#(\d].*$")
_EASTERN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_EASTERN_ROLE = re.compile(r"\s*(?:기자|특파원|논설위원|記者|特派員|编辑)(?:\s*외\s*\d+명)?$")
_NUMBER = re.compile(r"(?:^|\s)[\d.,:/-]*\d[.,]?(?:\s|$)")
_FIRM = re.compile(r"\b(?:GmbH|AG|e\.? ?V|Inc|Ltd|LLC|S\.?A|S\.?L|Corp|KG|mbH|B\.?V)\b\.?$")
_ROLES = frozenset(map(fold, ROLES))
_INITIALS = re.compile(r"[^\W\d_]{2,6}")
_AGENCIES = frozenset(map(squeeze, _AGENCY_NAMES.split(",")))
_PARTICLES, _NO_NAME = frozenset(_PARTICLE_WORDS.split()), frozenset(_NO_NAME_WORDS.split())


def authors_in(said: Iterable[str], *, is_shown: bool = False) -> tuple[str, ...]:
    """Each once, in the order given. Of what is shown on a page only what looks like a name is one."""
    lines = [line for one in said if (line := page_line(one, _LONGEST))]
    each = [name for line in lines for name in _names_in(line) if not is_shown or _looks_like_a_name(name)]
    persons = [name for name in each if not is_office(name)]
    return tuple(dict.fromkeys(persons or each))[:MOST_AUTHORS]


def is_byline(label: str) -> bool:
    """`Written by`, `Verfasst von`, `Von: Ann Lee`."""
    return bool(_BY.match(label[:_LONGEST]))


def names_behind_by(line: str) -> tuple[str, ...]:
    """Of a line that begins with such words; where no name follows, the initials of who wrote it."""
    found = _BY.match(line[:_LONGEST])
    if not found:
        return ()
    first = line[found.end() :].split(",", maxsplit=1)[0].strip()
    initials = (first,) if _INITIALS.fullmatch(first) and first.isupper() else ()
    return authors_in([line], is_shown=True) or initials


def persons_among(
    authors: Iterable[str], names: SiteNames, people: Collection[str] = (), organisations: Collection[str] = ()
) -> tuple[str, ...]:
    """Without agencies and firms, the site's own names, and what says it is no person.

    `people` say that they are one: whoever writes alone calls the site by the own name.
    """
    return tuple(name for name in authors if name not in organisations and _is_person(name, names, name in people))


def _is_person(name: str, names: SiteNames, is_said_to_be: bool) -> bool:
    if is_agency(name) or is_office(name) or _FIRM.search(name) or squeeze(name) in names.house:
        return False
    return not names.has(name) or (is_said_to_be and _looks_like_a_name(name))


def is_agency(name: str) -> bool:
    return squeeze(name) in _AGENCIES


def is_office(name: str) -> bool:
    """A role and no name: `Political Editor`, `Editor-at-large`, `Online-Redaktion`."""
    return any(word in _ROLES for word in re.split(r"[\s-]+", fold(name)))


def is_account(name: str) -> bool:
    """What somebody signs in with: `ann-lee`, `sv_team`, `annlee84`."""
    return " " not in name and (name.islower() or "_" in name or any(map(str.isdigit, name)))


def _names_in(line: str) -> Iterator[str]:
    plain = _ADDRESS.sub("", _EMAIL.sub("", _ASIDE.sub("", _TAG.sub("", line))))
    # Behind it stands a role, a paper or a date.
    plain = next((part for part in plain.split("|") if part.strip()), "")
    parts = [name for part in _LIST.split(_without_by(plain)) for one in _joined_names(part) if (name := _name_in(one))]
    if len(parts) == 2 and "," in line and all(map(_is_one_word, parts)) and all(part.istitle() for part in parts):
        # As libraries write names.
        yield f"{parts[1]} {parts[0]}"
        return
    has_whole_names = any(not _is_one_word(part) for part in parts)
    # One word beside whole names is a place.
    yield from (part for part in parts if not has_whole_names or not _is_one_word(part) or is_agency(part))


def _joined_names(part: str) -> Iterator[str]:
    """`Ann Lee and Bo Ek` are two, `José Ortega y Gasset` is one."""
    begins = 0
    for found in _AND.finditer(part):
        left, right = part[begins : found.start()], part[found.end() :]
        if found[1] in _SURELY_AND or (" " in left.strip() and " " in right.strip()):
            yield left
            begins = found.end()
    yield part[begins:]


def _name_in(part: str) -> str:
    said = _without_by(part.strip())
    plain = _AFTER.sub("", said)
    if plain != said and month_of(plain.rpartition(" ")[2].strip(".")):
        # The first word of a date.
        plain = plain.rpartition(" ")[0]
    name = _EASTERN_ROLE.sub("", plain).strip(" :*-–—|•\"'“”")
    if len(name.rpartition(" ")[2]) > _LONGEST_ABBREVIATION:
        name = name.rstrip(".")
    is_possible = (
        not _PICTURED.match(name)
        and not _NUMBER.search(name)
        and len(name) <= _LONGEST_NAME
        and len(name.split()) <= _MOST_WORDS
    )
    return name if is_possible and any(map(str.isalpha, name)) else ""


def _without_by(text: str) -> str:
    return _BY.sub("", _BY.sub("", text))


def _is_one_word(name: str) -> bool:
    return " " not in name and not _EASTERN.search(name)


def _looks_like_a_name(name: str) -> bool:
    if _EASTERN.search(name):
        return len(name) <= _LONGEST_EASTERN
    words = name.split()
    is_written_as_one = all(word[0].isupper() or not word[0].isalpha() or word in _PARTICLES for word in words)
    is_cased = any(letter.islower() or letter.isupper() for letter in name)
    return (
        len(words) > 1
        and not any(map(str.isdigit, name))
        and (is_written_as_one or not is_cased)
        and not any(map(_is_no_name, words))
    )


def _is_no_name(word: str) -> bool:
    plain = fold(word.strip(".,:"))
    return plain in _NO_NAME or weekday_of(plain) is not None


def is_only_site(authors: Iterable[str], names: SiteNames) -> bool:
    return all(names.has(name) or names.has(_FIRM.sub("", name)) or squeeze(name) in names.house for name in authors)
