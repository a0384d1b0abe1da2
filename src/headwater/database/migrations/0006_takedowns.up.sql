-- What was taken down stays down at every moment.

create table takedowns (
    domain_or_url text primary key,
    domain        text not null,
    key_prefix    text,
    reason        text,
    created_at    timestamptz not null default now(),
    swept_at      timestamptz
);
comment on column takedowns.swept_at is 'When everything of it had been ended and withdrawn; null: still being applied.';
create index takedowns_domain on takedowns (domain);
create index takedowns_unswept on takedowns (created_at) where swept_at is null;

-- The transactions that have looked at the takedowns and may still store.
create view takedown_watchers as
select virtualtransaction as transaction from pg_locks
where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
  and classid = 'takedowns'::regclass::oid and objid = 0 and objsubid = 2 and granted;

-- What a takedown covers is found by an index of hosts, so these two stand before the tables that have one.
-- The host of a URL or of a key as we spell them: without the port, an IPv6 address with its brackets.
create function url_host(p_url text) returns text
    language sql immutable strict parallel safe
return substring(p_url from '^https?://(\[[^]]*\]|[^/:?#]*)');

-- Backwards, so that a domain with all below it is one range of an index: from `gro.elpmaxe` up to `gro.elpmaxe/`.
create function host_backwards(p_url text) returns text
    language sql immutable strict parallel safe
return reverse(url_host(p_url));
