alter table crowded_hosts
    drop column crowding, drop column first_queue_ends_at, drop column queue_ends_at,
    add column queue integer not null default 0;
comment on column crowded_hosts.queue is 'The most channels that were due at once, as claims met them lately.';
alter table channels drop column waits_since;
