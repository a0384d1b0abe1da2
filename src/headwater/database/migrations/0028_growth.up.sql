-- What grew with the tables is answered by an index, or by rows that are kept up as things happen.

-- By the time of the statement: one that changes within it is asked for each row anew, and answered by no index.
create or replace function has_suspect(p_owner text) returns boolean
language sql stable as $$
    select exists (select 1 from channels
                   where token is not null and lost_count > 0 and leased_by = p_owner and lease_until > statement_timestamp());
$$;

-- Statistics are folded every minute, from the last minute of the log.
create index fetch_log_recent on fetch_log (at);
create index slots_of_owner on slots (owner);

-- People and rules of hosts ask for channels that are switched off, too.
drop index channels_of_host;
create index channels_of_host on channels (bucket, host, next_poll_at);
create index channels_idle on channels (source_id) where not is_active;

create index sources_stopped_lately on sources (updated_at) where status <> 'active';
create index sources_tags on sources using gin (tags);
-- For beginnings of names, whatever the order of letters is in this database.
create index sources_beginning on sources (lower(name) text_pattern_ops);

-- The newest items, for the delay from publication to discovery.
drop index channel_items_fresh;
create index channel_items_fresh on channel_items (first_seen_at);

-- All sources together: five rows where the counters of 200,000 sources are a million.
create table counter_totals (
    status  text primary key,
    entries bigint not null
);
insert into counter_totals select status, sum(entries) from counters group by 1;

-- Polls by the minute: a day of them is read in 1,440 rows. Runs after the mark are not in it yet.
create table run_minutes (
    minute timestamptz primary key,
    runs   integer not null,
    failed integer not null,
    found  bigint not null
);
alter table statistics_mark add column runs_folded_until timestamptz not null default now() - interval '1 day';

-- An active channel was seen, and something that was kept: nobody has to ask for that again.
alter table sources add column is_proven boolean not null default false;
create index sources_unproven on sources (id) where status = 'active' and not is_proven and url_hash is not null;
