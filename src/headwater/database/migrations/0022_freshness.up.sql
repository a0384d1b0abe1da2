-- What polls are worth: validators that lie, polls and what they brought, delays by source, hosts with more channels than turns.

alter table channels
    add column validators_checked_at       timestamptz,
    add column validators_distrusted_until timestamptz,
    add column polls_lately                real not null default 0,
    add column vain_polls_lately           real not null default 0,
    add column new_items_lately            real not null default 0;
comment on column channels.validators_checked_at is 'When it was last asked without validators because it said "not modified" for longer than its rhythm explains.';
comment on column channels.validators_distrusted_until is 'Until then it is asked without validators: it had said "not modified" although it had changed.';
comment on column channels.polls_lately is 'Polls, fading with a half-life of 14 days, as of last_polled_at; so are the two after it.';
comment on column channels.vain_polls_lately is 'Those that brought nothing new.';
-- Where polls are wasted: the first of these are what a person looks at.
create index channels_in_vain on channels (vain_polls_lately desc) where is_active;

-- How long what a source published on a day took: from publication to discovery, in classes of cadence/delays.py.
create table source_delays (
    source_id uuid not null,
    day       date not null,
    counts    integer[] not null,
    primary key (source_id, day)
) with (fillfactor = 70);
create index source_delays_old on source_delays using brin (day);

-- Hosts where channels had to wait for each other, and what that costs; by `maintain`.
create table crowded_hosts (
    bucket            smallint not null,
    host              text not null,
    queue             integer not null,
    seen_at           timestamptz not null,
    channels          integer,
    deserved_per_hour real,
    possible_per_hour real,
    judged_at         timestamptz,
    primary key (bucket, host)
);
comment on column crowded_hosts.queue is 'The most channels that were due at once, as claims met them lately.';
comment on column crowded_hosts.deserved_per_hour is 'Polls, if each of its channels were polled at the interval of its own.';
comment on column crowded_hosts.possible_per_hour is 'Polls that its delay leaves room for.';
