from datetime import date

from headwater.ingest.page_store import links_to_follow
from headwater.sources.source import Profile, SourceKind

DOCS = "https://kettle.example/en/latest"


def test_a_crawl_of_documentation_reads_its_pages_and_not_what_they_were_made_of() -> None:
    """As Sphinx links them from each of its pages."""
    pages = [f"{DOCS}/guide.html", f"{DOCS}/api.html"]
    beside = [
        *(f"{DOCS}/_sources/guide.rst.txt", f"{DOCS}/_modules/kettle.html", f"{DOCS}/_modules/index.html"),
        *(f"{DOCS}/genindex.html", f"{DOCS}/py-modindex.html", f"{DOCS}/_static/manual.html"),
    ]
    profile = Profile(name="Kettle", url=f"{DOCS}/", kind=SourceKind.DOCS)
    assert links_to_follow([*beside, *pages], profile, date(2026, 5, 4)) == pages
