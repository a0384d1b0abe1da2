"""Does a URL belong to what a source is followed for?"""

from dataclasses import dataclass
from enum import StrEnum

from headwater.urls.canonical import CanonicalUrl, with_plain_escapes


class Placement(StrEnum):
    """Where a URL lies, seen from a source; the word is also the reason when it is left out."""

    INSIDE = "inside"
    EXTERNAL = "external"
    OTHER_HOST = "other_host"
    PATH_NOT_INCLUDED = "path_not_included"
    PATH_EXCLUDED = "path_excluded"

    @property
    def is_followed(self) -> bool:
        return self in (Placement.INSIDE, Placement.EXTERNAL)


@dataclass(frozen=True, slots=True)
class Scope:
    """Hosts match with or without `www.`, domains with all their subdomains, paths by whole segments. A host has its
    port beside it, as in `docs.test:8080`, unless that is the usual one; a domain without a port means all ports.

    `starts` are the keys of the pages a person named: they belong to it whatever their path.
    """

    hosts: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    include_paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    allow_external: bool = False
    starts: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "hosts", frozenset(map(without_www, self.hosts)))
        object.__setattr__(self, "domains", frozenset(map(str.lower, self.domains)))
        object.__setattr__(self, "include_paths", tuple(map(_as_prefix, self.include_paths)))
        object.__setattr__(self, "exclude_paths", tuple(map(_as_prefix, self.exclude_paths)))


def placement_of(url: CanonicalUrl, scope: Scope) -> Placement:
    if not _has_site(scope, url):
        return Placement.EXTERNAL if scope.allow_external else Placement.OTHER_HOST
    if url.key in scope.starts:
        return Placement.INSIDE
    path = f"{url.path}/"
    if path.startswith(scope.exclude_paths):
        return Placement.PATH_EXCLUDED
    if scope.include_paths and not path.startswith(scope.include_paths):
        return Placement.PATH_NOT_INCLUDED
    return Placement.INSIDE


def why_no_path(text: str) -> str:
    """A sentence where the text cannot be the beginning of a path; empty is well."""
    if text and "://" not in text and not set(text) & set("*?#"):
        return ""
    return f"{text!r} is no path: write how the paths begin, such as /docs/. `/` is the whole site."


def folder_of(url: CanonicalUrl) -> str:
    """The folder an address names, with a slash at its end. What looks like a file (`index.html`, not `v1.2`) and has
    no slash at its end lies in its folder."""
    folder, _, name = url.path.rpartition("/")
    is_written_as_folder = url.target.partition("?")[0].endswith("/")
    has_extension = "." in name and name.rpartition(".")[2][:1].isalpha()
    return f"{folder}/" if has_extension and not is_written_as_folder else f"{url.path.rstrip('/')}/"


def _has_site(scope: Scope, url: CanonicalUrl) -> bool:
    is_in_domain = is_within(url.host, scope.domains) or is_within(url.site, scope.domains)
    return without_www(url.site) in scope.hosts or is_in_domain


def is_within(host: str, domains: frozenset[str]) -> bool:
    """Whether the host is one of the domains or below one, label by label: `badexample.com` is not."""
    while host not in domains:
        _, dot, host = host.partition(".")
        if not dot:
            return False
    return True


def without_www(host: str) -> str:
    return host.lower().removeprefix("www.")


def _as_prefix(path: str) -> str:
    """`news`, `/news` and `/news/` are one prefix: it holds `/news` and what is below, not `/newsletter`."""
    inner = with_plain_escapes(path).strip("/")
    return f"/{inner}/" if inner else "/"
