-- What `headwater problems` looks for, each found by an index that holds little else.

-- Channels with something to be judged: errors, silence, a damaged or an empty answer.
create index channels_ailing on channels (source_id)
    where is_active and (consecutive_errors > 0 or silent_since is not null or last_error is not null
                         or (last_item_count = 0 and last_ok_at is not null and kind in ('feed', 'listing')));
create index channels_crawls on channels (source_id) where is_active and kind = 'crawl';
create index sources_stopped on sources (id) where status in ('paused', 'blocked');
create index events_alarms on events (source_id, id desc)
    where kind in ('extraction_decayed', 'extraction_recovered', 'channel_overflowed');
create index url_frontier_poison on url_frontier (updated_at) where status = 'dead' and reason = 'poison';

comment on column channels.last_error is 'With errors in a row the last of them; without any, what was wrong with an answer that was read all the same.';
