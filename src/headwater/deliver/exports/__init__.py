"""Exports: the archive, or a view of it, as files. Written record by record, and continued after an interruption."""
