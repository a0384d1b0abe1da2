"""Channels and their polls: from publishers to new URLs."""
