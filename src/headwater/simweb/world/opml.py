"""The publishers' feeds as an OPML 2.0 subscription list."""

from collections.abc import Iterable

from headwater.simweb.world.markup import in_xml
from headwater.simweb.world.publishers import Publisher

ATTRIBUTE_TYPES = {"rss": "rss", "rdf": "rss", "atom": "atom", "json": "json"}


def opml_of(publishers: Iterable[Publisher], title: str) -> str:
    outlines = "\n".join(line for publisher in publishers for line in _outlines(publisher))
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0">
<head><title>{in_xml(title)}</title></head>
<body>
{outlines}
</body>
</opml>
"""


def _outlines(publisher: Publisher) -> Iterable[str]:
    name, home = in_xml(publisher.name), in_xml(publisher.home)
    for feed in publisher.feeds:
        yield (
            f'<outline type="{ATTRIBUTE_TYPES[feed.kind]}" text="{name}" title="{name}" xmlUrl="{in_xml(feed.url)}" '
            f'htmlUrl="{home}" language="{publisher.language}" category="/{publisher.kind}"/>'
        )
