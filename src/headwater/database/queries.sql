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
-- Which of these names of tables and functions are taken in the schema that new ones go to, and the name of that schema.
select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = current_schema() and c.relname = any ($1::text[])
union
select n.nspname, p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where n.nspname = current_schema() and p.proname = any ($2::text[])
order by 2;

-- name: read_ledger
-- What was applied, oldest first.
select number, name, checksum, applied_at from schema_migrations order by number;

-- name: record_migration
-- Note a migration in the transaction that applied it.
insert into schema_migrations (number, name, checksum) values ($1, $2, $3);

-- name: erase_migration
-- Forget a migration in the transaction that took it back.
delete from schema_migrations where number = $1;

-- name: functions_are_noted
-- Whether this database has a ledger of its functions.
select to_regclass('schema_functions') is not null;

-- name: read_functions
-- Which functions were made, and from what text.
select name, checksum from schema_functions;

-- name: record_functions
-- Note functions in the transaction that made them.
insert into schema_functions (name, checksum) select * from unnest($1::text[], $2::text[]);

-- name: drop_of_functions
-- The statement that drops all functions that are noted, in one: some stand on others. Null where there is none.
select 'drop function ' || string_agg(p.oid::regprocedure::text, ', ')
from pg_proc p
where p.pronamespace = current_schema()::regnamespace and p.proname in (select name from schema_functions);

-- name: forget_functions
-- No function is noted any more, in the transaction that dropped them.
delete from schema_functions;

-- name: take_over_ledger
-- The ledger of a schema that was made by other migrations: it is as old as that.
with former as (delete from schema_migrations returning applied_at)
insert into schema_migrations (number, name, checksum, applied_at)
select one.*, (select min(applied_at) from former) from unnest($1::integer[], $2::text[], $3::text[]) as one;

-- name: take_over_functions
-- Functions of these names that are there become ours, made from no text that is known.
insert into schema_functions (name, checksum)
select distinct proname, '' from pg_proc where pronamespace = current_schema()::regnamespace and proname = any ($1::text[]);

-- name: show_types
-- Composite types in the order they were made, for the page that shows the schema.
select c.relname as name, array_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) order by a.attnum) as fields
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relnamespace = current_schema()::regnamespace and c.relkind = 'c'
group by c.oid, c.relname order by c.oid;

-- name: show_tables
-- Tables in the order they were made, without the days of histories: columns with comments, constraints, indexes, triggers.
select c.relname as name, c.relpersistence = 'u' as is_unlogged, pg_get_partkeydef(c.oid) as partitioned_by,
       array_to_string(c.reloptions, ', ') as options, obj_description(c.oid, 'pg_class') as comment,
       (select i.inhparent::regclass::text from pg_inherits i where i.inhrelid = c.oid) as part_of,
       array(select a.attname from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
             order by a.attnum) as columns,
       array(select format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then ' not null' else '' end
                    || case when a.attidentity <> '' then ' generated always as identity'
                            when a.attgenerated <> '' then ' generated always as (' || pg_get_expr(d.adbin, d.adrelid, true) || ') stored'
                            when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid, true) else '' end
                    || case when a.attstorage <> t.typstorage then ' storage ' || case a.attstorage when 'e' then 'external' when 'm' then 'main' when 'x' then 'extended' else 'plain' end
                            else '' end
             from pg_attribute a join pg_type t on t.oid = a.atttypid
             left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
             where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum) as definitions,
       array(select coalesce(col_description(c.oid, a.attnum), '') from pg_attribute a
             where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum) as comments,
       array(select 'constraint ' || o.conname || ' ' || pg_get_constraintdef(o.oid, true) from pg_constraint o
             where o.conrelid = c.oid and o.contype in ('p', 'u', 'f', 'c', 'x')
             order by array_position(array['p', 'u', 'f', 'c', 'x'], o.contype::text), o.conname) as constraints,
       array(select pg_get_indexdef(i.indexrelid, 0, true) from pg_index i join pg_class x on x.oid = i.indexrelid
             where i.indrelid = c.oid and not x.relispartition
               and not exists (select from pg_constraint o where o.conindid = i.indexrelid and o.contype in ('p', 'u', 'x'))
             order by x.relname) as indexes,
       array(select pg_get_triggerdef(t.oid, true) from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal
             order by t.tgname) as triggers
from pg_class c
where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
  and (not c.relispartition or c.relname like '%\_default')
order by c.oid;

-- name: show_views
-- Views in the order they were made.
select c.relname as name, pg_get_viewdef(c.oid, true) as definition,
       array(select pg_get_triggerdef(t.oid, true) from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal) as triggers
from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind = 'v' order by c.oid;

-- name: show_functions
-- Signatures by name. Functions that are in no ledger were made by migrations.
select p.proname as name, pg_get_function_arguments(p.oid) as arguments, pg_get_function_result(p.oid) as result,
       array_to_string(p.proconfig, ', ') as settings,
       case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end as volatility,
       f.name is null as is_of_migration
from pg_proc p left join schema_functions f on f.name = p.proname
where p.pronamespace = current_schema()::regnamespace order by p.proname, 2;

-- name: found_installation
-- Make this database the home of an installation, unless it already is one.
insert into installation (created_by) values ($1) on conflict do nothing;

-- name: read_installation
-- The installation this database belongs to.
select id, created_at, created_by from installation;

-- name: ensure_days
-- Partitions of a history table from yesterday to days ahead; of a day without one so many rows are moved at the most.
select ensure_days($1::text, (now() at time zone 'utc')::date - 1, $2::integer, $3::integer);

-- name: old_days
-- Partitions of a history table that hold nothing younger than the retention.
select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = $1::text::regclass
  and case when c.relname ~ ('^' || $1 || '_[0-9]{8}$')
           then to_date(right(c.relname, 8), 'YYYYMMDD') < (now() at time zone 'utc')::date - $2::integer end
order by 1;

-- name: note_bodies_of_day
-- Bodies outside that a day refers to are to be deleted there, a batch from behind a place on; answers with the last of them.
WITH batch AS (
    SELECT stored_in, object_id FROM raw_bodies
    WHERE at >= $1::date::timestamp AT TIME ZONE 'utc' AND at < ($1 + 1)::timestamp AT TIME ZONE 'utc'
      AND object_id > coalesce($2::uuid, '00000000-0000-0000-0000-000000000000')
    ORDER BY object_id LIMIT $3::integer
), noted AS (
    INSERT INTO body_removals (stored_in, object_id) SELECT stored_in, object_id FROM batch ON CONFLICT DO NOTHING
)
SELECT object_id FROM batch ORDER BY object_id DESC LIMIT 1;

-- name: forget_in_default
-- Rows past the retention that lie in a default partition, a batch.
select forget_in_default($1::text, ((now() at time zone 'utc')::date - $2::integer)::timestamp at time zone 'utc', $3::integer);

-- name: days_ahead
-- Of each history table: whole days after today that have a partition, without a gap, up to 32.
select h.name, coalesce((select min(n) from generate_series(1, 32) as n
                         where not exists (select from pg_inherits i join pg_class c on c.oid = i.inhrelid
                                           where i.inhparent = h.name::regclass
                                             and c.relname = h.name || '_' || to_char((now() at time zone 'utc')::date + n, 'YYYYMMDD'))),
                        33) - 1 as days
from unnest($1::text[]) as h (name);

-- name: beat
-- That a process lives, what it does, and what it counted since its last beat, added to ten minutes of its own and to the sums
-- since ever. Answers whether a person wants it to take on no more.
-- Invariant: counts are given since its start, so that a beat whose answer was lost is counted once. `:is_first` is
-- false after the first beat: a row that was forgotten meanwhile was counted already.
with was as materialized (
    select counts from role_processes where id = :id::uuid
), beaten as (
    insert into role_processes (id, owner, role, does, host, pid, version, beat_at, counts, failing, is_draining, under_way)
    select :id, :owner::text, :role::text, :does::text[], :host::text, :pid::integer, :version::text, now(),
           coalesce(jsonb_object_agg(g.figure, g.count), '{}'), :failing::text::jsonb, :is_draining::boolean,
           :under_way::integer
    from unnest(:figures::text[], :counts::bigint[]) as g (figure, count)
    on conflict (id) do update set beat_at = excluded.beat_at, counts = excluded.counts, failing = excluded.failing,
        is_draining = excluded.is_draining, under_way = excluded.under_way
    returning drain_asked_at is not null as is_asked
), grown as materialized (
    select g.figure, g.count - coalesce((was.counts ->> g.figure)::bigint, 0) as more, g.said
    from unnest(:figures, :counts, :said::text[]) as g (figure, count, said) left join was on true
    where g.count > coalesce((was.counts ->> g.figure)::bigint, 0) and (:is_first::boolean or was.counts is not null)
), summed as (
    insert into figure_totals as t (figure, count) select figure, more from grown order by figure
    on conflict (figure) do update set count = t.count + excluded.count
), noted as (
    insert into role_figures as f (since, figure, process_id, count, said)
    select date_bin('10 minutes', now(), 'epoch'), figure, :id, more, said from grown
    on conflict (since, figure, process_id) do update set count = f.count + excluded.count, said = excluded.said
)
select is_asked from beaten;

-- name: ask_to_drain
-- Ask a process to take on no more, by whom, or with null to work again. Answers nothing where that was asked already.
update role_processes
set drain_asked_at = case when $2::text is not null then now() end, drain_asked_by = $2::text
where id = $1::uuid and (drain_asked_at is null) = ($2::text is not null)
returning true;

-- name: end_beats
-- A process that ends in order has no row.
delete from role_processes where id = $1::uuid;

-- name: forget_processes
-- Processes that were last seen a day ago, and figures of three days ago.
with gone as (delete from role_processes where beat_at < now() - interval '1 day')
delete from role_figures where since < now() - interval '3 days';

-- name: keep_lines
-- Lines of a process's log that warn, in their order.
insert into process_lines (at, process_id, role, host, pid, level, event, fields)
select (line ->> 'at')::timestamptz, $1::uuid, $2::text, $3::text, $4::integer, line ->> 'level', line ->> 'event',
       line - array['at', 'level', 'event']
from jsonb_array_elements($5::text::jsonb) with ordinality as given (line, place) order by place;

-- name: forget_lines
-- Lines of a day ago, and all but the newest $1.
delete from process_lines
where at < now() - interval '1 day'
   or id <= (select id from process_lines order by id desc offset $1::integer limit 1);

-- name: say_alive
-- Held until this session ends: for so long its owner lives, as `is_owner_alive` sees it.
select pg_advisory_lock_shared(owner_key($1::text));

-- name: kinds_are_noted
-- Whether the schema has the table of the kinds of channels.
select to_regclass('channel_kinds') is not null;

-- name: missing_kinds
-- Of these kinds of channels, those that the database does not know.
select kind from unnest($1::text[]) as ours (kind) where kind not in (select kind from channel_kinds);

-- name: note_kinds
-- Kinds of channels that may be stored from now on. None goes: a channel may have it.
insert into channel_kinds select unnest($1::text[]) on conflict do nothing;

-- name: show_role
-- A role of the server, and whether it could do more than read whatever it is granted: by itself or as another one.
select exists (select from pg_roles r where pg_has_role(asked.oid, r.oid, 'member')
               and (r.rolsuper or r.rolcreaterole or r.rolreplication
                    or r.rolname in ('pg_read_all_data', 'pg_write_all_data', 'pg_execute_server_program', 'pg_read_server_files',
                                     'pg_write_server_files')
                    or r.oid = (select c.relowner from pg_class c where c.oid = to_regclass('sources')))) as is_mighty
from pg_roles asked where asked.rolname = $1::text;

-- name: statements_that_make
-- Statements that make a role where it is missing ($2), and give it a password where there is one ($3). A new one cannot
-- hold a snapshot for long, which would keep dead rows in all tables.
select array_remove(array[
    case when $2::boolean then format('create role %I login connection limit 8', $1::text) end,
    case when $2 then format('alter role %I set default_transaction_read_only = on', $1) end,
    case when $2 then format('alter role %I set statement_timeout = %L', $1, '10min') end,
    case when $2 then format('alter role %I set idle_in_transaction_session_timeout = %L', $1, '1min') end,
    case when $2 then format('alter role %I in database %I set search_path = %I', $1, current_database(), current_schema()) end,
    case when $3::text is not null then format('alter role %I password %L', $1, $3) end
], null);

-- name: statements_that_grant
-- Statements that let a role connect and read these tables and views.
select array[format('grant connect on database %I to %I', current_database(), $1::text),
             format('grant usage on schema %I to %I', current_schema(), $1)]
       || array_agg(format('grant select on %I.%I to %I', current_schema(), c.relname, $1) order by c.relname)
from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relname = any ($2::text[]);

-- name: statements_that_revoke
-- Statements that take back everything that was granted to a role here.
select array[format('revoke all on all tables in schema %I from %I', current_schema(), $1::text),
             format('revoke all on schema %I from %I', current_schema(), $1),
             format('revoke connect on database %I from %I', current_database(), $1)];

-- name: readers
-- Roles that may read the logs of runs because they were granted it: those for reports.
select distinct r.rolname as name
from pg_class c cross join lateral aclexplode(c.relacl) as granted join pg_roles r on r.oid = granted.grantee
where c.oid = to_regclass('crawl_logs') and granted.privilege_type = 'SELECT' and r.oid <> c.relowner
order by 1;

-- name: rights_beyond
-- What a role may do here except for reading these: by a grant to it, to a role it belongs to, or to everybody.
select c.relname as name, possible.one as right
from pg_class c cross join unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER', 'REFERENCES']) as possible (one)
where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
  and has_table_privilege($1::text, c.oid, possible.one) and not (possible.one = 'SELECT' and c.relname = any ($2::text[]))
union all
select format('schema %s', current_schema()), 'CREATE' where has_schema_privilege($1, current_schema(), 'CREATE')
order by 1, 2;
