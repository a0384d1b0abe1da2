-- Whether the columns that PostgreSQL searches are written. Volatile, so that it sees what is so while a row is written, however
-- long ago its statement began: whoever fills the columns waits for those that wrote before, and relies on the others.
create function is_search_kept() returns boolean
    language sql volatile
return coalesce((select c.state in ('kept', 'filling') from search_column c), true);
