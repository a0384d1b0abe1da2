-- Push in: the hubs that channels name, what we asked of them, and what they sent and nobody has read yet.

-- What a channel's answers name as its hub (WebSub) or cloud (rssCloud), and how that has kept its word.
-- `state`: wanted, pending (asked, and not verified yet), active, denied, failed. Whether a lease holds says lease_until alone.
create table subscriptions (
    channel_id   uuid primary key references channels on delete cascade,
    protocol     text not null check (protocol in ('websub', 'rsscloud')),
    hub          text not null check (length(hub) <= 2083),
    hub_host     text not null,
    topic        text not null check (length(topic) <= 2083),
    state        text not null default 'wanted' check (state in ('wanted', 'pending', 'active', 'denied', 'failed')),
    reason       text,
    failures     smallint not null default 0,
    due_at       timestamptz not null default now(),
    since        timestamptz,
    lease_until  timestamptz,
    -- Its record; see src/headwater/discover/cadence/hubs.py.
    proofs       integer not null default 0,
    needed       integer not null default 3,
    pushes       integer not null default 0,
    missed       integer not null default 0,
    last_push_at timestamptz,
    pinged_at    timestamptz,
    quiet_until  timestamptz,
    created_at   timestamptz not null default now()
) with (fillfactor = 80);
comment on column subscriptions.topic is 'The address that is subscribed to: what the channel calls itself, else where it is.';
comment on column subscriptions.reason is 'Why it is denied or failed, in the words of the hub or ours.';
comment on column subscriptions.due_at is 'When it is asked for, or renewed.';
comment on column subscriptions.since is 'When it was first verified, without a lapse since.';
comment on column subscriptions.pushes is 'Those that brought something new.';
comment on column subscriptions.missed is 'Items that came late, or that polls found first.';
comment on column subscriptions.pinged_at is 'The hub said that there is something, and no poll has looked since.';
comment on column subscriptions.quiet_until is 'A trusted hub that pushes nothing until then is looked after by a poll.';
create index subscriptions_due on subscriptions (due_at);
create index subscriptions_of_hub on subscriptions (hub_host, due_at);
create index subscriptions_quiet on subscriptions (quiet_until) where quiet_until is not null;
-- For people who ask how many there are, and when the last push came.
create index subscriptions_leased on subscriptions (lease_until) where state = 'active';
create index subscriptions_pushed on subscriptions (last_push_at) where last_push_at is not null;

-- Addresses of ours that hubs were given: one that is in force, and one that is to replace it.
create table callbacks (
    token       text primary key check (length(token) >= 40),
    channel_id  uuid not null references subscriptions on delete cascade,
    secret      text not null check (length(secret) < 200),
    hub         text not null,
    topic       text not null,
    asked_at    timestamptz not null default clock_timestamp(),
    verified_at timestamptz
);
comment on column callbacks.secret is 'What the hub signs with. It is told to the hub, and shown to nobody.';
comment on column callbacks.verified_at is 'Null: asked for, and to be confirmed by the hub.';
create index callbacks_of_channel on callbacks (channel_id);

-- Bodies as they came, zlib; null: the hub only said that there is something.
create table pushes (
    id           bigint generated always as identity primary key,
    channel_id   uuid not null references channels on delete cascade,
    received_at  timestamptz not null default clock_timestamp(),
    due_at       timestamptz not null default clock_timestamp(),
    content_type text not null default '',
    body         bytea,
    attempts     smallint not null default 0
);
comment on column pushes.due_at is 'Its channel was busy until then.';
create index pushes_due on pushes (due_at);
create index pushes_of_channel on pushes (channel_id);
