"""Feeds of every kind, from bytes to items. Pure: start with `read.py`."""

from headwater.discover.feeds.read import read_feed

__all__ = ["read_feed"]
