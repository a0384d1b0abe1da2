"""The search layout: an index for each kind of records and each language's rules, which searches are put to. Pure.

Words are parted and brought to their stems as PostgreSQL does it, so that both find the same. In one index for all
languages a word would have to be kept once for each of them.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from headwater.deliver.records import Record
from headwater.deliver.sinks import record_index
from headwater.record_kind import RecordKind
from headwater.search.rules import WORD_FOR_WORD, rules_of

# In a question it stands where a word was that its language leaves out: the words around it keep their distance.
GAP = "headwatergap"
# In these languages words in Latin letters are taken for English ones, as PostgreSQL does.
WITH_ENGLISH = frozenset({"hindi", "russian"})
# Signs that part words there, and that stand within words here.
PARTING = "'’_,;:"
# Their words are searched, too.
WORDS_OF_LISTS = {
    RecordKind.DOCUMENT: ("keywords",),
    RecordKind.JOB: ("mission_tags", "functional_tags"),
}
# Counted as facets, and asked for: as PostgreSQL knows them, whose function `url_host` says the same.
OF_DOCUMENTS = ("host", "month", "day")
_HOST = re.compile(r"https?://(\[[^]]*\]|[^/:?#]*)")
# Pieces of it are shown: where its words stand is kept, so that long texts need not be read for that.
SHOWN_TEXT = {RecordKind.DOCUMENT: "text", RecordKind.JOB: "description_snippet"}


def rules_for(record: Record) -> str:
    return rules_of(str(record.fields.get("language") or ""))


def document_of(record: Record) -> dict[str, Any]:
    about = _facet_fields(record.fields) if record.key.kind is RecordKind.DOCUMENT else {}
    return record_index.document_of(record) | {"bucket": record.key.bucket} | about


def _facet_fields(fields: Mapping[str, Any]) -> dict[str, str]:
    told_at: datetime = fields["published_at"] or fields["first_seen_at"]
    day = told_at.astimezone(UTC).date().isoformat()
    host = _HOST.match(fields["url"])
    return dict(zip(OF_DOCUMENTS, (host[1] if host else "", day[:7], day), strict=True))


@cache
def mapping_of(kind: RecordKind) -> Mapping[str, Any]:
    mapping = record_index.mapping_of(kind)
    fields = dict(mapping["properties"])
    for name in WORDS_OF_LISTS[kind]:
        fields[name] = fields[name] | {"fields": {"words": {"type": "text"}}}
    shown = SHOWN_TEXT[kind]
    fields[shown] = fields[shown] | {"index_options": "offsets"}
    if kind is RecordKind.DOCUMENT:
        fields |= {name: {"type": "keyword"} for name in OF_DOCUMENTS}
    return mapping | {"properties": fields | {"bucket": {"type": "integer"}}}


def analysis_of(rules: str) -> Mapping[str, Any]:
    """The first stop is for questions only: a text that says the word itself keeps it."""
    names = [] if rules == WORD_FOR_WORD else [rules, *(["english"] if rules in WITH_ENGLISH else [])]
    stems = {f"{name}_stem": {"type": "snowball", "language": name.capitalize()} for name in names}
    parted = {"type": "custom", "tokenizer": "standard", "char_filter": ["parting"]}
    return {
        "char_filter": {"parting": {"type": "mapping", "mappings": [f"{sign}=>\\u0020" for sign in PARTING]}},
        "filter": {"gap": {"type": "stop", "stopwords": [GAP]}, **stems},
        "analyzer": {
            "default": {**parted, "filter": ["lowercase", *stems]},
            "default_search": {**parted, "filter": ["lowercase", "gap", *stems]},
        },
    }
