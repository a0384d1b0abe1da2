"""The one queue: every URL once, in exactly one state, fetched by the worker that holds its lease."""
