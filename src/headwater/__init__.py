"""Feed-first, polite, adaptive web ingestion. `docs/architecture.md` tells the way of a URL."""

__version__ = "0.1.0"
