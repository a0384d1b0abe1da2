"""What is asked of the console: each page, lists also with the filters that people set, and pages of one thing."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from benchmarks.serve_lists import CONSOLE, FIRST, Question

# Pages that stand alone, and lists by common filters, by rare ones and by ones that nothing passes.
PAGES: Sequence[tuple[str, Sequence[Mapping[str, str]]]] = (
    ("/console", ({"window": "1h"}, {"window": "7d"})),
    (
        "/console/sources",
        (
            {"status": "failing"},
            {"status": "ok"},
            {"status": "paused"},
            {"tag": "rare"},
            {"kind": "jobs"},
            {"text": "s"},
        ),
    ),
    ("/console/sources/add", ()),
    ("/console/sources/import", ()),
    ("/console/crawl", ({"status": "fail"}, {"status": "warn"})),
    (
        "/console/frontier",
        ({"status": "pending"}, {"status": "failed"}, {"status": "dead"}, {"origin": "manual"}, {"reason": "trap"}),
    ),
    ("/console/frontier/add", ()),
    ("/console/hosts", ()),
    ("/console/documents", ({"q": "harvest"}, {"q": "unicorn"}, {"language": "sw"}, {"since": "7d"})),
    ("/console/jobs", ({"q": "lorry"}, {"country": "KE"})),
    ("/console/views", ()),
    ("/console/requests", ()),
    ("/console/operations", ()),
    *((f"/console/settings{name}", ()) for name in ("", "/sinks", "/takedowns", "/configuration")),
    *((f"/console/settings{name}", ()) for name in ("/users", "/tokens", "/audit")),
    ("/crawler", ()),
    ("/login", ()),
)
# Pages of one thing, each of which is asked about other ones in turn.
OF_ONE = {
    "/console/sources/{source}": "source",
    "/console/sources/{source}/runs": "source",
    "/console/sources/{source}/urls": "source",
    "/console/sources/{source}/documents": "source",
    "/console/sources/{source}/template": "source",
    "/console/sources/{source}/settings": "source",
    "/console/frontier?source={source}": "source",
    "/console/documents?source={source}": "source",
    "/console/hosts/{host}": "host",
    "/console/frontier?host={host}": "host",
    "/console/frontier?prefix=https://{host}/1": "host",
    "/console/frontier/url?url={url}": "url",
    "/console/documents/{document}": "document",
    "/console/jobs/{job}": "job",
}
MOST = 60
SAMPLES = {
    "source": "select id::text from sources where status = 'active' order by id limit $1",
    "host": "select host from hosts order by bucket, host limit $1",
    "url": "select (select url from url_frontier where bucket = n order by url_hash limit 1)"
    " from generate_series(0, $1 - 1) n",
    "document": "select encode((select url_hash from documents where bucket = n order by url_hash limit 1), 'hex')"
    " from generate_series(0, $1 - 1) n",
    "job": "select encode(canonical_hash, 'hex') from jobs order by created_at desc limit $1",
}


async def pages(connection: Any) -> list[Question]:
    asked = [
        Question(_told(path, filters), CONSOLE, {FIRST: [_told(path, filters)]})
        for path, known in PAGES
        for filters in ({}, *known)
    ]
    found = {name: [row[0] for row in await connection.fetch(query, MOST) if row[0]] for name, query in SAMPLES.items()}
    for path, name in OF_ONE.items():
        paths = [path.replace(f"{{{name}}}", quote(one, safe="")) for one in found[name]]
        asked += [Question(path, CONSOLE, {FIRST: paths})] if paths else []
    return asked


def _told(path: str, filters: Mapping[str, str]) -> str:
    return f"{path}?{urlencode(filters)}" if filters else path
