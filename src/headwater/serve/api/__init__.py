"""Resources under /api/v1, a file each, on the same use cases as the command line."""
