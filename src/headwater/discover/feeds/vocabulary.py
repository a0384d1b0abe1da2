"""Meanings of the elements of a feed, whichever of a dozen namespaces they come from."""

from functools import lru_cache

XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
RDF_ABOUT = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"
ATOM = frozenset({"http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#"})

_FEED = "feed"
_DUBLIN_CORE = "dublin core"
_CONTENT = "content"
_SYNDICATION = "syndication"
_MEDIA = "media"

_VOCABULARIES = {
    "": _FEED,
    **dict.fromkeys(ATOM, _FEED),
    "http://purl.org/rss/1.0/": _FEED,
    "http://purl.org/dc/elements/1.0/": _DUBLIN_CORE,
    "http://purl.org/dc/elements/1.1/": _DUBLIN_CORE,
    "http://purl.org/dc/terms/": _DUBLIN_CORE,
    "http://purl.org/rss/1.0/modules/content/": _CONTENT,
    "http://purl.org/rss/1.0/modules/syndication/": _SYNDICATION,
    "http://search.yahoo.com/mrss/": _MEDIA,
}

_MEANINGS = {
    _FEED: {
        **{name: name for name in ("channel", "title", "link", "summary", "content", "author", "name", "language")},
        **{name: name for name in ("published", "updated", "ttl", "skiphours", "skipdays", "hour", "day")},
        "generator": "generator",
        "cloud": "cloud",
        "item": "entry",
        "entry": "entry",
        "guid": "guid",
        "id": "guid",
        "description": "description",
        "pubdate": "published",
        "issued": "published",
        "created": "created",
        "modified": "updated",
    },
    _DUBLIN_CORE: {
        "date": "date",
        "created": "created",
        "issued": "date",
        "modified": "updated",
        "creator": "creator",
        "language": "language",
        "title": "label",
    },
    _CONTENT: {"encoded": "content"},
    _MEDIA: {"title": "label"},
    _SYNDICATION: {"updateperiod": "period", "updatefrequency": "frequency"},
}


def namespace(tag: str) -> str:
    return tag.rpartition("}")[0][1:]


def local_name(tag: str) -> str:
    return tag.rpartition("}")[2].lower()


# The same few dozen tags come in every feed; a hostile one can only push them out.
@lru_cache(maxsize=2048)
def meaning(tag: str, home: str) -> str:
    """`home` is the feed's own namespace, which several have invented. Nothing, if the element says nothing to us."""
    space = namespace(tag)
    vocabulary = _VOCABULARIES.get(space) or (_FEED if space == home else "")
    return _MEANINGS[vocabulary].get(local_name(tag), "") if vocabulary else ""
