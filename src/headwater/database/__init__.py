"""PostgreSQL: the embedded server, the connection pool, named queries, migrations."""
