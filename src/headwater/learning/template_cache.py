"""The templates one worker has in hand, lent to the pages it reads, and what it saw of their use."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headwater.chance import Random
from headwater.clock import Clock
from headwater.extraction.article import Article, NotAnArticle
from headwater.extraction.body import Producer
from headwater.extraction.plugins import PRODUCER as PLUGIN
from headwater.extraction.templates.guide import Guide, name_of, pack_template
from headwater.extraction.templates.template import Template, number_of, template_from
from headwater.extraction.training import section_of
from headwater.frontier.entry import Lease
from headwater.learning.life import Use, UseTally

REMEMBERED_SECONDS = 60.0
MOST_HOSTS = 10_000
# Every new template is watched from its first page on.
AUDITED_AT_FIRST = 3
_LEARNED_BY_HAND = frozenset({Producer.SELECTORS, Producer.HURRIED})


@dataclass(slots=True)
class CacheEntry:
    """`pack_template` is the template as pages are sent with it; `is_changed`: audits had doubts."""

    section: str
    version: int
    template: Template
    served: int
    packed: str = ""
    is_changed: bool = False

    @property
    def key(self) -> tuple[str, int]:
        return self.section, self.version

    def learn(self, page: bytes, doubted: Iterable[int]) -> None:
        before, self.template = self.template, self.template.after(number_of(page), doubted)
        self.is_changed = self.is_changed or before is not self.template
        if before.repeated != self.template.repeated:
            self.packed = ""

    def guide(self, *, audits: bool) -> Guide:
        self.packed = self.packed or pack_template(self.template)
        return Guide(name=name_of(self.section, self.version), template=self.packed, audits=audits)


@dataclass(slots=True)
class _CachedHost:
    loaded_at: float
    by_section: Mapping[str, CacheEntry]


@dataclass(slots=True)
class TemplateCache:
    """`audit_share` of the pages a template serves are read by the general extractor, too. Hosts are named with their
    ports, as sites are.
    """

    clock: Clock
    random: Random
    audit_share: float = 0.0
    is_open: bool = True
    _hosts: OrderedDict[str, _CachedHost] = field(default_factory=OrderedDict, init=False)
    _tallies: dict[tuple[int, str], UseTally] = field(default_factory=dict, init=False)

    def wants(self, host: str) -> bool:
        """Whether the host's templates should be read from the database."""
        known = self._hosts.get(host)
        is_known = known is not None and self.clock.monotonic() - known.loaded_at < REMEMBERED_SECONDS
        return self.is_open and not is_known

    def put(self, host: str, rows: Iterable[Mapping[str, Any]]) -> None:
        found = (_cache_entry(row) for row in rows)
        self._hosts[host] = _CachedHost(self.clock.monotonic(), {one.section: one for one in found if one})
        self._hosts.move_to_end(host)
        if len(self._hosts) > MOST_HOSTS:
            self._hosts.popitem(last=False)

    def guide_for(self, lease: Lease) -> Guide | None:
        cache_entry = self._cache_entry_of(lease)
        if cache_entry is None:
            return None
        is_new = bool(self.audit_share) and cache_entry.served < AUDITED_AT_FIRST
        return cache_entry.guide(audits=is_new or self.random.random() < self.audit_share)

    def note(self, lease: Lease, read: Article | NotAnArticle) -> None:
        """A page without an article was rightly refused, or there was nothing to learn from it."""
        if not self.is_open or not isinstance(read, Article):
            return
        cache_entry, guided = self._cache_entry_of(lease), read.guided
        tally = self._tallies.setdefault((lease.bucket, lease.site), UseTally(lease.source_id))
        if cache_entry is None or guided is None:
            if cache_entry is None and not _is_learned_by_hand(read):
                tally.read_well.append(lease.url_hash)
            return
        use = tally.uses.setdefault(cache_entry.key, Use())
        if guided.agreement is not None:
            use.agreements.append(guided.agreement)
        if guided.refused:
            use.refused[guided.refused] += 1
            tally.refused.append(lease.url_hash)
            return
        use.served += 1
        cache_entry.served += 1
        cache_entry.learn(lease.url_hash, guided.doubted)
        if guided.agreement is not None:
            tally.read_well.append(lease.url_hash)

    def taken(self, *, is_all: bool = True) -> dict[tuple[int, str], UseTally]:
        """The notes since this was last asked; else only those that a host may learn from."""
        taken = {host: tally for host, tally in self._tallies.items() if is_all or tally.read_well or tally.refused}
        for host in taken:
            del self._tallies[host]
        return taken

    def versions_of(self, host: str) -> set[tuple[str, int]]:
        known = self._hosts.get(host)
        return {one.key for one in known.by_section.values()} if known else set()

    def changed_templates_of(self, host: str) -> dict[tuple[str, int], Template]:
        known = self._hosts.get(host)
        return {one.key: one.template for one in known.by_section.values() if one.is_changed} if known else {}

    def forget(self, host: str) -> None:
        self._hosts.pop(host, None)

    def _cache_entry_of(self, lease: Lease) -> CacheEntry | None:
        known = self._hosts.get(lease.site)
        if known is None or not known.by_section:
            return None
        return known.by_section.get(section_of(lease.url)) or known.by_section.get("")


def _cache_entry(row: Mapping[str, Any]) -> CacheEntry | None:
    template = template_from(row["template"])
    return CacheEntry(row["section"], row["version"], template, row["served"]) if template else None


def _is_learned_by_hand(read: Article) -> bool:
    return read.produced_by in _LEARNED_BY_HAND or read.produced_by.startswith(PLUGIN)
