"""A source's own selectors: checked before they are saved, believed before anything else."""

from collections.abc import Iterator, Mapping

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from headwater.extraction.blocks import text_of
from headwater.extraction.page import Selectors
from headwater.extraction.text import page_line

_LONGEST_SELECTOR = 500
_MOST_EXCLUDES = 100
_MOST_BODIES = 200
_ARTICLE_FIELDS = frozenset({
    "container", "title", "body", "intro", "link", "image", "byline", "byline_name", "published_time", "publish_date",
    "time_ago", "section", "category", "article_id", "json_ld", "keywords", "tags", "description", "og_title",
    "og_description", "og_image", "og_url", "og_type", "og_site_name", "canonical", "author", "word_count", "exclude",
})  # fmt: skip
# Of one item of a list of vacancies, as its facts are named.
_ITEM_FIELDS = {
    "title": "title",
    "location": "location",
    "deadline": "deadline",
    "organisation": "org_name",
    "organization": "org_name",
    "description": "description",
}
_LIST_FIELDS = frozenset({"container", "article_cards", "article_list", "exclude_from_list", *_ITEM_FIELDS})
_PAGE_FIELDS = frozenset({
    "container", "title", "content", "description", "keywords", "og_title", "og_description", "og_image", "og_url",
    "canonical", "exclude",
})  # fmt: skip
_GROUPS = {"article": _ARTICLE_FIELDS, "list": _LIST_FIELDS, "page": _PAGE_FIELDS}
_LISTS = frozenset({"exclude", "exclude_from_list"})
# Where a value stands in these elements; in any other it is the text.
_ATTRIBUTES = {"meta": "content", "time": "datetime", "link": "href", "img": "src"}


def fields_of_items(saved: object) -> dict[str, str]:
    """The selectors for facts of one item of a list; what is no selector finds nothing."""
    group = saved.get("list") if isinstance(saved, Mapping) else None
    named = group if isinstance(group, Mapping) else {}
    return {
        fact: named[name]
        for name, fact in _ITEM_FIELDS.items()
        if isinstance(named.get(name), str) and named[name].strip() and not _problem_of(named[name])
    }


def check_selectors(saved: Mapping[str, object]) -> list[str]:
    """Everything that is wrong, one sentence each; nothing means they can be saved."""
    return [problem for name, group in saved.items() for problem in _problems_of_group(name, group)]


def _problems_of_group(name: str, group: object) -> Iterator[str]:
    if name not in _GROUPS:
        yield f"{name}: there is no such group; there are {', '.join(_GROUPS)}."
    elif not isinstance(group, Mapping):
        yield f"{name}: must hold names and selectors."
    else:
        for field, written in group.items():
            if field not in _GROUPS[name]:
                yield f"{name}.{field}: there is no such field."
            else:
                yield from _problems_of_field(f"{name}.{field}", written, is_list=field in _LISTS)


def _problems_of_field(place: str, written: object, *, is_list: bool) -> Iterator[str]:
    if is_list != isinstance(written, list):
        yield f"{place}: must be {'a list of selectors' if is_list else 'one selector'}."
        return
    each = written if isinstance(written, list) else [written]
    if len(each) > _MOST_EXCLUDES:
        yield f"{place}: has more than {_MOST_EXCLUDES} selectors."
    yield from (f"{place}: {problem}" for css in each[:_MOST_EXCLUDES] if (problem := _problem_of(css)))


def _problem_of(css: object) -> str:
    if not isinstance(css, str):
        return "a selector is text."
    if len(css) > _LONGEST_SELECTOR:
        return f"is longer than {_LONGEST_SELECTOR} characters."
    try:
        LexborHTMLParser("").css(css)
    except (SelectolaxError, UnicodeEncodeError):
        return f"“{page_line(css, 80)}” is not a CSS selector."
    return ""


def selected_text(tree: LexborHTMLParser, selectors: Selectors) -> str:
    """The intro and every body inside the container, or the container itself; nothing where nothing fits."""
    fields = selectors.fields
    if not fields.keys() & {"body", "container"}:
        return ""
    container = next(iter(_found(tree, fields.get("container", ""))), tree.root)
    within: LexborHTMLParser | LexborNode = container or tree
    bodies = _found(within, fields["body"]) if "body" in fields else [container] if container else []
    if not bodies:
        return ""
    excluded = frozenset(node.mem_id for css in selectors.exclude for node in _found(within, css))
    return text_of([*_found(within, fields.get("intro", ""))[:1], *bodies[:_MOST_BODIES]], excluded)


def selected_value(tree: LexborHTMLParser, selectors: Selectors, *names: str) -> str:
    """By the first of these fields that is set and finds something."""
    values = (_value_of(node) for name in names for node in _found(tree, selectors.fields.get(name, ""))[:1])
    return next((value for value in values if value), "")


def _value_of(node: LexborNode) -> str:
    said = node.attributes.get(_ATTRIBUTES.get(node.tag or "", ""))
    return page_line(said or node.text(separator=" "), 5_000)


def _found(within: LexborHTMLParser | LexborNode, css: str) -> list[LexborNode]:
    try:
        return within.css(css) if css else []
    except (SelectolaxError, UnicodeEncodeError):
        # Saved before it was checked, or by hand: a selector that means nothing finds nothing.
        return []
