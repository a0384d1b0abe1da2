"""Links a spider need not follow: they lead to app stores, file stores and shops, not to articles."""

from enum import StrEnum

from headwater.urls.canonical import CanonicalUrl
from headwater.urls.scope import is_within

_APP_STORES = frozenset({"play.google.com", "apps.apple.com", "itunes.apple.com"})
_FILE_STORES = frozenset({"cloudfront.net", "googleusercontent.com", "fbcdn.net", "twimg.com"})
_FILE_FOLDERS = ("/wp-content/uploads/", "/assets/", "/static/")
_SHOP_SEGMENTS = frozenset({"shop", "store", "product", "products", "cart", "checkout"})


class Skip(StrEnum):
    APP_STORE = "app_store"
    FILE_STORE = "file_store"
    FILE_FOLDER = "file_folder"
    SHOP = "shop"


def why_skipped(url: CanonicalUrl) -> Skip | None:
    if url.host in _APP_STORES:
        return Skip.APP_STORE
    if is_within(url.host, _FILE_STORES):
        return Skip.FILE_STORE
    path = f"{url.path.lower()}/"
    if any(folder in path for folder in _FILE_FOLDERS):
        return Skip.FILE_FOLDER
    return None if _SHOP_SEGMENTS.isdisjoint(path.split("/")) else Skip.SHOP
