-- name: lock_migrations
-- Wait until no other process is migrating. The lock ends with the transaction, however that ends.
select pg_advisory_xact_lock(hashtext('headwater schema_migrations'));

-- name: ledger_exists
-- Whether anything was ever migrated here: other systems have a table of this name too, without our columns.
select exists (select from pg_attribute
               where attrelid = to_regclass('schema_migrations') and attname = 'checksum' and not attisdropped);

-- name: schema_is_there
-- Whether a schema of this name exists.
select to_regnamespace($1::text) is not null;

-- name: names_taken
-- Which of these names are taken in the schema that new tables go to, and the name of that schema.
select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = current_schema() and c.relname = any ($1::text[]) order by 2;

-- name: read_ledger
-- What was applied, oldest first.
select number, name, checksum, applied_at from schema_migrations order by number;

-- name: record_migration
-- Note a migration in the transaction that applied it.
insert into schema_migrations (number, name, checksum) values ($1, $2, $3);

-- name: erase_migration
-- Forget a migration in the transaction that took it back.
delete from schema_migrations where number = $1;

-- name: found_installation
-- Make this database the home of an installation, unless it already is one.
insert into installation (created_by) values ($1) on conflict do nothing;

-- name: read_installation
-- The installation this database belongs to.
select id, created_at, created_by from installation;

-- name: ensure_days
-- Partitions of a history table from yesterday to days ahead.
select ensure_days($1::text, (now() at time zone 'utc')::date - 1, $2::integer);

-- name: old_days
-- Partitions of a history table that hold nothing younger than the retention.
select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = $1::text::regclass and c.relname ~ ('^' || $1 || '_[0-9]{8}$')
  and to_date(right(c.relname, 8), 'YYYYMMDD') < (now() at time zone 'utc')::date - $2::integer
order by 1;

-- name: say_alive
-- Held until this session ends: for so long its owner lives, as `is_owner_alive` sees it.
select pg_advisory_lock_shared(owner_key($1::text));
