"""Sitemaps: plain, news, indexes, lists of URLs."""
