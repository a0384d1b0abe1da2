"""Two values for every URL: what is fetched, and the key under which all its spellings are one."""

import re
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from headwater.errors import UrlRejected
from headwater.urls.fingerprint import bucket_of, entry_id, hash_of
from headwater.urls.origin import Origin, site_at
from headwater.urls.parse import resolve
from headwater.urls.rules import DEFAULT_RULES, HostRules, rules_of_host

# `http://` and one character of a host: the first slash after them begins the path.
_PATH_FROM = 8
# An escape that follows a stray `%` is left alone: decoding `%4%31` would make a new escape, `%41`.
_ESCAPE = re.compile(r"(?<!%)(?<!%[0-9A-Fa-f])%[0-9A-Fa-f]{2}")
_UNRESERVED = {
    f"%{ord(character):02X}": character
    for character in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
}


@dataclass(frozen=True, slots=True)
class CanonicalUrl:
    """`url` is what is fetched; `key` only identifies. `url_hash` is the SHA-256 of the key."""

    url: str
    key: str
    url_hash: bytes
    origin: Origin

    @property
    def host(self) -> str:
        """Without the port; `www.` and the brackets of IPv6 stay."""
        return self.origin.host

    @property
    def site(self) -> str:
        """The host, and its port unless that is the usual one: whose pages are of one make, and of one owner."""
        return self.origin.site

    @property
    def bucket(self) -> int:
        return bucket_of(self.origin.host)

    @property
    def entry_id(self) -> UUID:
        return entry_id(self.bucket, self.url_hash)

    @property
    def target(self) -> str:
        """Path and query as they are requested, and as robots.txt is asked about them."""
        return self.url[self.url.index("/", _PATH_FROM) :]

    @property
    def usual_key(self) -> str:
        """The key without any exception of its host: what must not change when those do."""
        is_usual = rules_of_host(self.host) is DEFAULT_RULES
        return self.key if is_usual else canonicalise(self.url, rules=DEFAULT_RULES).key

    @property
    def path(self) -> str:
        """The path as the key spells it."""
        return self._target_of_key()[0]

    @property
    def query(self) -> str:
        """The query as the key spells it, without the question mark."""
        return self._target_of_key()[1]

    def _target_of_key(self) -> tuple[str, str]:
        path, _, query = self.key[self.key.index("/", _PATH_FROM) :].partition("?")
        return path, query


def canonicalise(raw: str, *, base: str | None = None, rules: HostRules | None = None) -> CanonicalUrl:
    """Raises UrlRejected, and nothing else, for what will never be fetched.

    `rules` are those that a person set for the URL's host, unless others are given.
    """
    href = resolve(raw, base)
    slash = href.index("/", _PATH_FROM)
    site = site_at(href[:slash])
    target = href[slash:]
    chosen = rules_of_host(site.origin.host) if rules is None else rules
    key = site.key_root + _canonical_target(target, chosen)
    return CanonicalUrl(site.url_root + target, key, hash_of(key), site.origin)


def site_named(text: str) -> CanonicalUrl:
    """An address at the site that a person writes: `docs.test`, `docs.test:8080`, or a URL."""
    # Port 80 is a usual one, too: that of http.
    scheme = "http" if text.endswith(":80") else "https"
    return canonicalise(text if "://" in text else f"{scheme}://{text}/")


def web_addresses(*urls: str) -> list[CanonicalUrl]:
    """Those of these texts that are web addresses."""
    found = []
    for url in filter(None, urls):
        with suppress(UrlRejected):
            found.append(canonicalise(url))
    return found


def _canonical_target(target: str, rules: HostRules) -> str:
    path, _, query = with_plain_escapes(target).partition("?")
    if not rules.keep_slash:
        path = path.rstrip("/") or "/"
    if query:
        query = _canonical_query(query, rules)
    return f"{path}?{query}" if query else path


def with_plain_escapes(text: str) -> str:
    """RFC 3986 6.2.2: unreserved characters decoded, hexadecimal digits in upper case, nothing else."""
    return _ESCAPE.sub(_plain_escape, text) if "%" in text else text


def _plain_escape(escape: re.Match[str]) -> str:
    upper = escape[0].upper()
    return _UNRESERVED.get(upper, upper)


def _canonical_query(query: str, rules: HostRules) -> str:
    kept = [pair for pair in query.split("&") if pair and not rules.strips(param_name(pair))]
    if len(kept) > 1:
        # Stable, so repeated parameters keep their order: there it may matter.
        kept.sort(key=param_name)
    return "&".join(kept)


def param_name(pair: str) -> str:
    return pair.partition("=")[0]
