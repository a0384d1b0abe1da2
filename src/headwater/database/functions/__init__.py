"""Functions of the database by stage, one a file: `name.sql` makes the function `name`, with all its overloads."""
