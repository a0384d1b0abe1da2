"""Views, and previews of them."""

from dataclasses import asdict
from typing import Any

from headwater.actions.delivery import ViewPreview, ViewStory
from headwater.editions import edition_of


def view_as_dict(one: ViewStory) -> dict[str, Any]:
    told = {"sources": list(one.sources), "sinks": list(one.sinks), "edition": edition_of(one.view)}
    return asdict(one.view) | told


def preview_as_dict(found: ViewPreview) -> dict[str, Any]:
    records = [
        {
            "kind": one.hit.kind,
            "id": one.hit.hash.hex(),
            "title": one.hit.title,
            "url": one.hit.url,
            "source_id": one.hit.source_id,
            "language": one.hit.language,
            "first_seen_at": one.hit.first_seen_at,
        }
        for one in found.found
    ]
    return {"name": found.view.name, "counts": [asdict(one) for one in found.counts], "records": records}
