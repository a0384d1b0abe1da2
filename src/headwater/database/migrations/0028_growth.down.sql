drop index sources_unproven;
alter table sources drop column is_proven;
alter table statistics_mark drop column runs_folded_until;
drop table run_minutes;
drop table counter_totals;
drop index channel_items_fresh;
create index channel_items_fresh on channel_items using brin (first_seen_at);
drop index sources_beginning;
drop index sources_tags;
drop index sources_stopped_lately;
drop index channels_idle;
drop index channels_of_host;
create index channels_of_host on channels (bucket, host, next_poll_at) where is_enabled;
drop index slots_of_owner;
drop index fetch_log_recent;
create or replace function has_suspect(p_owner text) returns boolean
language sql stable as $$
    select exists (select 1 from channels
                   where token is not null and lost_count > 0 and leased_by = p_owner and lease_until > clock_timestamp());
$$;
