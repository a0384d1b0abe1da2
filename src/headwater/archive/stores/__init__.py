"""Raw bodies outside of the database: one small protocol, a folder, an S3-compatible store."""
