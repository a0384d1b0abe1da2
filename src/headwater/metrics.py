"""The metrics of one process, in a registry of their own. No metric is labelled by host, source or URL."""

from functools import cached_property
from typing import TYPE_CHECKING

from headwater import __version__

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


class Metrics:
    """Built once by the composition root and handed down; parts add what they count here.

    The library is loaded by those who count or tell something: commands do neither.
    """

    @cached_property
    def registry(self) -> "CollectorRegistry":
        from prometheus_client import CollectorRegistry, Gauge

        registry = CollectorRegistry()
        build = Gauge("headwater_build_info", "Constant 1; the version is the label.", ["version"], registry=registry)
        build.labels(version=__version__).set(1)
        return registry

    def exposition(self) -> bytes:
        from prometheus_client.exposition import generate_latest

        return generate_latest(self.registry)
