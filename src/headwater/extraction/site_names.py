"""The names of a site: what a page calls it, and what its host is called. Titles and bylines go without them. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from headwater.languages import fold

_SHORTEST_BEGINNING, _SHORTEST_END, _MOST_WORDS = 4, 6, 5
_NO_NAMES = frozenset({"www", "com", "co", "org", "net", "news", "blog", "m", "amp", "en", "de", "fr"})
_LONGEST_URL = 500


@dataclass(frozen=True, slots=True)
class SiteNames:
    """As `squeeze` writes them: `said` by the page, `hosts` from its address (`ntvde`, `ntv`).

    `house` are those that stand as author on nearly every page of the host.
    """

    said: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    house: frozenset[str] = frozenset()

    def has(self, name: str) -> bool:
        """`STERN.de`, `The Gateway Pundit` on thegatewaypundit.com, `Mirror Online` on mirror.co.uk."""
        return self.has_exactly(name) or self._begins_with_host(name) or self._ends_with_host(name)

    def has_exactly(self, name: str) -> bool:
        """Without an edition or a department."""
        plain = squeeze(name)
        forms = {plain, plain.removeprefix("the")} - {""}
        return bool(forms & self.said or forms & self.hosts)

    def _ends_with_host(self, name: str) -> bool:
        """`Our New Harbour Gazette` on gazette.it."""
        words = name.split()
        last = squeeze(words[-1]) if words else ""
        return len(words) <= _MOST_WORDS and len(last) >= _SHORTEST_END and last in self.hosts

    def _begins_with_host(self, name: str) -> bool:
        """With one more word: an edition or a department."""
        first, _, last = name.strip().rpartition(" ")
        plain = squeeze(first)
        return (
            bool(last) and len(plain) >= _SHORTEST_BEGINNING and bool({plain, plain.removeprefix("the")} & self.hosts)
        )


def site_names(url: str, said: Iterable[str], house: Iterable[str] = ()) -> SiteNames:
    labels = _host_of(url).split(".")
    named = [label for label in labels[:-1] if label not in _NO_NAMES]
    tails = (".".join(labels[at:]) for at in range(len(labels) - 1))
    hosts = {squeeze(name) for name in (*named, *tails)}
    return SiteNames(
        _with_and_without_the(map(squeeze, said)), _with_and_without_the(hosts), frozenset(map(squeeze, house))
    )


def _with_and_without_the(names: Iterable[str]) -> frozenset[str]:
    return frozenset(form for name in names for form in (name, name.removeprefix("the")) if form)


def squeeze(text: str) -> str:
    """Letters and digits alone: `n-tv.de`, `NTV.DE` and `ntv de` are one."""
    return "".join(character for character in fold(text[:200]) if character.isalnum())


def _host_of(url: str) -> str:
    try:
        return (urlsplit(url[:_LONGEST_URL]).hostname or "").removeprefix("www.")
    except ValueError:
        return ""
