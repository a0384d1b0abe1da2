"""Read-only answers for people, kept off the hot path."""
