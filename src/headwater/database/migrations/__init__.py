"""Numbered changes of the schema: `NNNN_name.up.sql` and the way back, `NNNN_name.down.sql`."""
