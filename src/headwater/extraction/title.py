"""Which of a page's many titles is the article's, and how it reads without the names of the site around it. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from headwater.extraction.dates import told_in
from headwater.extraction.site_names import SiteNames, site_names, squeeze
from headwater.extraction.text import comparable
from headwater.languages import BY, fold

_SEPARATORS = re.compile(r"\s+[|–—·•»«›:-]\s+|\s*[|»«]\s*|:\s+")
# Where a name may begin or end. Korean and Japanese set a hyphen without spaces; elsewhere that is a compound.
_JOINTS = re.compile(
    r"\s*[|ㅣ‖»«•·]\s*|\s+(?:[–—›:*~/-]|::|//)\s+|(?<=[\u3040-\u9fff\uac00-\ud7af.…?!])\s*[–—-]\s*|,\s+(?=[\d.]+$)|:\s+|："
)
_SHORTEST_HEADLINE_WORDS = 3
_LONGEST_SITE_NAME_WORDS = 4
_LONGEST_NAME = 60
_LONGEST_SECTION, _MOST_SECTION_WORDS, _LONGEST_EASTERN_SECTION = 30, 3, 4
_EASTERN = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]+")
_OPENING = {"»": "«", "«": "»"}
_BARS = frozenset("|ㅣ‖•·")
_COLONS = frozenset(":：")
_NO_KICKERS = (*_BARS, " -", " –", " —", "»")
_MOST_JOINTS, _MOST_NAMES = 6, 5
_LONGEST_AUTHOR_WORDS = 5
_BY_WORDS = frozenset(map(fold, BY))


def _nothing_is_linked() -> frozenset[str]:
    return frozenset()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands beside headlines on this page: names of the site, its sections.

    `linked` are the texts of the page's links, as `comparable` writes them; asked for where they are needed.
    """

    names: SiteNames
    sections: frozenset[str] = frozenset()
    linked: Callable[[], frozenset[str]] = _nothing_is_linked

    def has(self, part: str, *, is_inner: bool) -> bool:
        """A section, a date and an author stand between the headline and the site's name, or in its place."""
        if self.names.has(part):
            return True
        is_known = squeeze(part) in self.sections or _is_day(part)
        return is_known or (is_inner and (_is_byline(part) or self._is_in_a_menu(part)))

    def _is_in_a_menu(self, part: str) -> bool:
        """A section that the page does not declare is linked by its name."""
        return _is_short(part) and comparable(part) in self.linked()


def surroundings(
    names: SiteNames, sections: Iterable[str], linked: Callable[[], frozenset[str]] = _nothing_is_linked
) -> Surroundings:
    parts = (part for said in sections for part in (said, *said[:500].split(",")))
    return Surroundings(names, frozenset(plain for part in parts if (plain := squeeze(part))), linked)


def headline_in(page_title: str, heading: str, around: Surroundings) -> str:
    """A <title> without the site's name: whichever end it stands at, and whatever stands between."""
    plain = without_surroundings(page_title, around)
    if heading and not _is_same(heading, page_title) and _is_part(heading, page_title):
        # The same words may be written with other quotation marks here.
        return plain if _is_same(plain, heading) else without_surroundings(heading, around)
    if plain != page_title or (heading and _is_same(heading, page_title)):
        return plain
    if before := _before_name(page_title, heading):
        return before
    return _without_likely_name(page_title, _SEPARATORS.split(page_title))


def without_site_name(title: str, url: str, *names: str) -> str:
    return without_surroundings(title, Surroundings(site_names(url, names)))


def without_surroundings(title: str, around: Surroundings, *others: str) -> str:
    """Without the names of site and section, the date and the author at either end, as long as something is left.

    `others` are further titles of the page: where one of them is the whole of an end, the rest is no headline.
    """
    if same := next((one for one in others if one and len(one) < len(title) and _is_joined(one, title)), ""):
        return same
    left = title
    for _ in range(_MOST_NAMES):
        shorter = _without_end(left, around, is_inner=left != title) or _without_beginning(left, around)
        if not shorter:
            break
        left = shorter
    return left


def best_title(
    headline: str, shared: str, heading: str, page_title: str, name: str = "", meta: str = "", *, is_named: bool = True
) -> str:
    """Of the two titles a page declares: `headline` in its linked data, `shared` for readers elsewhere (og:title).

    Where they differ, and heading and <title> both say one of them, the other was written on purpose and these are
    copies; but for a <title> without the site's name (not `is_named`), which was written as well. Else the shared one
    is chosen if the heading says it too, or the linked data as the article's `name`, and the headline if not.
    `meta`, the plain <meta> of a title, tells only how it is spelt: it is copied and seldom made ready for display.
    """
    if _is_worthless(shared, headline, heading, page_title):
        return headline
    if not headline or not shared:
        return headline or shared
    if _is_same(headline, shared):
        return _as_most_write_it(shared, meta, headline, heading, page_title)
    if _is_same(heading, page_title):
        if _is_same(headline, heading):
            return shared if is_named else headline
        if _is_same(shared, heading):
            return shared if _is_part_of_the_other(headline, shared) else headline
    if _is_same(shared, heading):
        return _as_most_write_it(shared, meta, heading, page_title)
    return shared if _is_same(shared, name) else headline


def is_said_alone(title: str, feeds: str, said: Sequence[str]) -> bool:
    """In two places of its page or more, none of which says what the feed does."""
    return sum(_is_same(title, one) for one in said) > 1 and not any(_is_same(feeds, one) for one in said)


def _is_part_of_the_other(headline: str, shared: str) -> bool:
    """Cut short, or behind a kicker; and a word or two are a department rather than a headline."""
    one, other = comparable(headline), comparable(shared)
    is_brief = len(one.split()) < _SHORTEST_HEADLINE_WORDS and not _EASTERN.search(one)
    return is_brief or one in other or other in one


def _is_worthless(shared: str, *others: str) -> bool:
    """Cut at a quotation mark that ended its attribute, the name of a department, or a headline behind one."""
    headline, heading, page_title = others
    if any(one.startswith(shared) and one[len(shared) :].lstrip().startswith('"') for one in others if shared):
        return True
    if " " not in shared and not headline and not _EASTERN.search(shared):
        return len(page_title.split()) >= _SHORTEST_HEADLINE_WORDS and comparable(shared) not in comparable(page_title)
    return bool(heading) and _is_same(heading, page_title) and _stands_behind(heading, shared)


def _stands_behind(one: str, title: str) -> bool:
    """At the end of the title, with a joint before it; behind a colon it is a headline below its kicker."""
    return title.endswith(one) and title[: -len(one)].rstrip().endswith(_NO_KICKERS)


def _as_most_write_it(title: str, meta: str, *others: str) -> str:
    """One headline is written with several kinds of quotation marks and dashes; of as many, `meta` is believed."""
    return Counter(one for one in (meta, title, *others) if _is_same(one, title)).most_common(1)[0][0]


def _is_same(one: str, other: str) -> bool:
    return comparable(one) == comparable(other)


def _is_part(heading: str, title: str) -> bool:
    """Whole words at either end of the title. At its end, a short one may be the site's name."""
    inner, outer = comparable(heading), comparable(title)
    if not inner or outer.startswith(f"{inner} "):
        return bool(inner)
    is_name = len(inner.split()) < _SHORTEST_HEADLINE_WORDS <= len(outer.split()) - len(inner.split())
    return outer.endswith(f" {inner}") and not is_name


def _is_joined(one: str, title: str) -> bool:
    """At the beginning, with a joint behind it: a kicker stands in front, and belongs to the headline for some."""
    joint = _JOINTS.match(title, len(one)) if title.startswith(one) else None
    return joint is not None and (len(one.split()) >= _SHORTEST_HEADLINE_WORDS or "|" in joint[0])


def _without_end(title: str, around: Surroundings, *, is_inner: bool) -> str:
    joints = list(_JOINTS.finditer(title))[-_MOST_JOINTS:]
    for joint in reversed(joints):
        part = title[joint.end() :].strip()
        is_after_all = joint[0].strip() == ":"
        is_a_name = len(part) <= _LONGEST_NAME and not is_after_all
        headline = _before(title, joint)
        is_behind_all = is_inner or joint[0].strip() in ("|", "*")
        if is_a_name and around.has(part, is_inner=is_behind_all):
            return headline
        if is_a_name and is_inner and _is_like_a_section(part, joint[0].strip(), headline):
            return headline
    return ""


def _before(title: str, joint: re.Match[str]) -> str:
    """With the mark that ends a quotation, which is a joint elsewhere."""
    left, mark = title[: joint.start()].strip(), joint[0].strip()
    opening = _OPENING.get(mark)
    return left + mark if opening and left.count(opening) > left.count(mark) else left


def _without_beginning(title: str, around: Surroundings) -> str:
    for joint in list(_joints_from(title))[:_MOST_JOINTS]:
        part = title[: joint.start()].strip()
        # Before a colon a department is a kicker: `Harbour News Extra: …`.
        is_known = around.names.has_exactly if joint[0].strip() in _COLONS else around.names.has
        if len(part) <= _LONGEST_NAME and is_known(part):
            return title[joint.end() :].strip()
    return ""


def _joints_from(title: str) -> Iterator[re.Match[str]]:
    return _JOINTS.finditer(title, 0, _LONGEST_NAME * 2)


def _is_like_a_section(part: str, joint: str, headline: str) -> bool:
    """Between the headline and a site's name, behind a bar or, where words are not parted, so short."""
    if _EASTERN.fullmatch(part):
        return len(part) <= _LONGEST_EASTERN_SECTION < len(headline)
    return joint in _BARS and _is_short(part) and len(headline.split()) >= _SHORTEST_HEADLINE_WORDS


def _is_short(part: str) -> bool:
    return len(part) <= _LONGEST_SECTION and len(part.split()) <= _MOST_SECTION_WORDS


def _is_day(part: str) -> bool:
    return len(part) <= 30 and any(letter.isdigit() for letter in part) and told_in(part) is not None


def _is_byline(part: str) -> bool:
    words = part.split()
    return 1 < len(words) <= _LONGEST_AUTHOR_WORDS and fold(words[0]) in _BY_WORDS


def _before_name(page_title: str, heading: str) -> str:
    """What stands before the heading in a <title> that says it in the middle: the heading is the site's name."""
    if not heading or page_title.endswith(heading):
        return ""
    before = page_title.partition(heading)[0].rstrip()
    kept = _trimmed(before)
    return kept if kept != before and len(kept.split()) >= _SHORTEST_HEADLINE_WORDS else ""


def _without_likely_name(title: str, parts: list[str]) -> str:
    """An unknown last part, if it is short enough to be a name and leaves enough to be a headline."""
    kept = _trimmed(title.removesuffix(parts[-1]))
    is_likely = len(parts[-1].split()) <= _LONGEST_SITE_NAME_WORDS and not title.endswith(f": {parts[-1]}")
    return kept if is_likely and len(kept.split()) >= _SHORTEST_HEADLINE_WORDS else title


def _trimmed(title: str) -> str:
    return title.strip(" \t|–—·•»«›:-")
