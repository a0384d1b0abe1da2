"""Links a spider need not follow: they lead to app stores, file stores, shops and sources of pages, not to articles."""

import re
from enum import StrEnum

from headwater.urls.canonical import CanonicalUrl
from headwater.urls.scope import is_within

_APP_STORES = frozenset({"play.google.com", "apps.apple.com", "itunes.apple.com"})
_FILE_STORES = frozenset({"cloudfront.net", "googleusercontent.com", "fbcdn.net", "twimg.com"})
_FILE_FOLDERS = ("/wp-content/uploads/", "/assets/", "/static/", "/_static/", "/_images/", "/_downloads/")
# Beside the pages that Sphinx makes: their sources, the code they describe, and indexes. A page to print (Docsy) holds
# all pages of its folder.
_WRITTEN_TWICE = frozenset({"_sources", "_modules", "_print"})
_INDEX = re.compile(r"/(?:genindex(?:-[^/]*)?|py-modindex)(?:\.html)?/")
_SOURCE = re.compile(r"\.(?:rst|md|ipynb)\.txt/")
_SHOP_SEGMENTS = frozenset({"shop", "store", "product", "products", "cart", "checkout"})


class Skip(StrEnum):
    APP_STORE = "app_store"
    FILE_STORE = "file_store"
    FILE_FOLDER = "file_folder"
    SHOP = "shop"
    WRITTEN_TWICE = "written_twice"


def why_skipped(url: CanonicalUrl) -> Skip | None:
    if url.host in _APP_STORES:
        return Skip.APP_STORE
    if is_within(url.host, _FILE_STORES):
        return Skip.FILE_STORE
    path = f"{url.path.lower()}/"
    if any(folder in path for folder in _FILE_FOLDERS):
        return Skip.FILE_FOLDER
    segments = path.split("/")
    if not _WRITTEN_TWICE.isdisjoint(segments) or _INDEX.search(path) or _SOURCE.search(path):
        return Skip.WRITTEN_TWICE
    return None if _SHOP_SEGMENTS.isdisjoint(segments) else Skip.SHOP
