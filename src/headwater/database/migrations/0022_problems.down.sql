comment on column channels.last_error is null;
drop index url_frontier_poison, events_alarms, sources_stopped, channels_crawls, channels_ailing;
