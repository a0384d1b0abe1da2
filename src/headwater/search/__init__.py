"""Full-text search on PostgreSQL, over the rows of the archive themselves."""
