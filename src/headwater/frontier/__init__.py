"""The one queue: every URL once, in exactly one state, fetched by whoever holds its lease."""
