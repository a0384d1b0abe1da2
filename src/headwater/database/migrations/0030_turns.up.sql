-- Who waits for a turn at a host, since when, and where the queues of such a host end.

alter table channels add column waits_since timestamptz;
comment on column channels.waits_since is 'When it fell due, of one that was put aside since because others of its host had their turn.';

alter table crowded_hosts
    drop column queue,
    add column queue_ends_at       timestamptz,
    add column first_queue_ends_at timestamptz,
    add column crowding            real not null default 1;
comment on column crowded_hosts.queue_ends_at is 'The last turn that was given to a channel.';
comment on column crowded_hosts.first_queue_ends_at is 'The same of channels that were never polled.';
comment on column crowded_hosts.crowding is 'By so much the intervals of its channels are lengthened, so that all have their turns.';
