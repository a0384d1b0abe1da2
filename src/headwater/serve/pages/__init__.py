"""Pages for people, made on the server of plain functions; `static/` has what they load."""
