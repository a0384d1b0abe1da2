"""The metrics of one process, in a registry of their own. No metric is labelled by host, source or URL."""

from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.exposition import generate_latest

from headwater import __version__


class Metrics:
    """Built once by the composition root and handed down; parts add what they count here."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        build = Gauge(
            "headwater_build_info", "Constant 1; the version is the label.", ["version"], registry=self.registry
        )
        build.labels(version=__version__).set(1)

    def exposition(self) -> bytes:
        return generate_latest(self.registry)
