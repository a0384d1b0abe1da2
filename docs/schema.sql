-- The database of Headwater as its migrations and functions make it, in the order of src/headwater/database/migrations.
-- Written by `make schema` from the catalogue of a migrated database: to be read, not to be run. Days of histories are
-- left out. Functions are signatures alone: what they do, and why, is in src/headwater/database/functions, and of those
-- marked (migration) beside the table that stands on them.

create type submission as (
    bucket smallint,
    url_hash bytea,
    host text,
    url text,
    origin text,
    parent_url text,
    depth smallint,
    priority smallint,
    due_in interval,
    changed_at timestamptz,
    hops smallint,
    domain text,
    rank smallint
);

create type settlement as (
    bucket smallint,
    token uuid,
    host text,
    verdict text,
    status text,
    next_fetch_in interval,
    counts_as_failure boolean,
    reason text,
    last_error text,
    http_status smallint,
    body_bytes bigint,
    started_after interval,
    duration_ms integer,
    etag text,
    last_modified text,
    content_hash bytea,
    fetch_url text,
    resume_url text,
    hops smallint,
    moved_to text,
    revisit_in interval,
    close_for interval,
    close_reason text,
    temper smallint,
    kind text,
    address text,
    sent_from text
);

create type new_document as (
    bucket smallint,
    url_hash bytea,
    source_id uuid,
    url text,
    canonical_url text,
    title text,
    text text,
    word_count integer,
    content_hash bytea,
    summary text,
    author text,
    published_at timestamptz,
    updated_at timestamptz,
    language text,
    section text,
    keywords text[],
    images text[],
    page_type text,
    quality smallint,
    quality_parts text,
    simhash bigint,
    produced_by text,
    metadata text,
    claimed_bucket smallint,
    claimed_hash bytea,
    rights text[],
    rights_statements text,
    authors text[],
    blocks bytea
);

create type new_body as (
    bucket smallint,
    url_hash bytea,
    source_id uuid,
    url text,
    status smallint,
    headers text,
    body bytea,
    body_bytes integer,
    coding text,
    stored_in text,
    object_id uuid
);

create type document_key as (
    bucket smallint,
    url_hash bytea
);

create type telling as (
    since timestamptz,
    published_at timestamptz,
    first_seen_at timestamptz,
    bucket smallint,
    url_hash bytea
);

create table schema_migrations (
    number     integer not null,
    name       text not null,
    checksum   text not null,
    applied_at timestamptz not null default now(),
    constraint schema_migrations_pkey PRIMARY KEY (number)
);

create table schema_functions (
    name     text not null,
    checksum text not null,
    made_at  timestamptz not null default now(),
    constraint schema_functions_pkey PRIMARY KEY (name)
);

-- One row: which installation of Headwater this database belongs to.
create table installation (
    only_row   boolean not null default true,
    id         uuid not null default gen_random_uuid(),
    created_at timestamptz not null default now(),
    created_by text not null,  -- Version of Headwater that first used the database.
    constraint installation_pkey PRIMARY KEY (only_row),
    constraint installation_only_row_check CHECK (only_row)
);

create table clock_mark (
    only_row boolean not null default true,
    seen_at  timestamptz not null,
    constraint clock_mark_pkey PRIMARY KEY (only_row),
    constraint clock_mark_only_row_check CHECK (only_row)
);

create table sources (
    id                   uuid not null default gen_random_uuid(),
    name                 text not null,
    url                  text not null,
    kind                 text not null default 'news'::text,
    priority             smallint not null default 5,
    status               text not null default 'active'::text,
    status_reason        text,
    rate_limit_ms        integer,
    revisit_every        interval[] not null default '{}'::interval[],  -- After which times a fetched page is fetched again, the last one over and over; empty: never.
    created_at           timestamptz not null default now(),
    updated_at           timestamptz not null default now(),
    url_hash             bytea,
    tags                 text[] not null default '{}'::text[],
    org_type             text,
    timezone             text,
    country              text,
    ingestion_mode       text not null default 'spider'::text,
    policy               text,  -- Null: by the kind of channel and source.
    poll_every           interval,  -- What a person set: it means the policy `fixed`.
    crawl_frequency_days real,
    time_window          text,
    max_depth            smallint not null default 2,  -- -1 is without a limit.
    max_pages            integer,
    allowed_domains      text[] not null default '{}'::text[],
    include_paths        text[] not null default '{}'::text[],
    exclude_paths        text[] not null default '{}'::text[],
    allow_external       boolean not null default false,
    start_urls           text[] not null default '{}'::text[],
    article_patterns     text[] not null default '{}'::text[],
    selectors            jsonb not null default '{}'::jsonb,
    parser_hint          text,
    consecutive_failures smallint not null default 0,
    last_run_at          timestamptz,
    last_run_status      text,
    last_run_message     text,
    host                 text generated always as ("substring"(lower(url), '^[a-z]+://([^/:?#]+)'::text)) stored,
    speaks_for           text[] not null default '{}'::text[],  -- Hosts beside those of its channels' domains of which its word counts, by a person.
    is_proven            boolean not null default false,
    skips_tdmrep         boolean not null default false,  -- Whether origins of its pages are never asked for tdmrep.json, which others are once a day.
    constraint sources_pkey PRIMARY KEY (id),
    constraint sources_crawl_frequency_days_check CHECK (crawl_frequency_days > 0::double precision),
    constraint sources_ingestion_mode_check CHECK (ingestion_mode = ANY (ARRAY['feed'::text, 'spider'::text, 'both'::text])),
    constraint sources_kind_check CHECK (kind = ANY (ARRAY['news'::text, 'jobs'::text, 'docs'::text])),
    constraint sources_last_run_status_check CHECK (last_run_status = ANY (ARRAY['ok'::text, 'warn'::text, 'fail'::text])),
    constraint sources_max_depth_check CHECK (max_depth >= '-1'::integer AND max_depth <= 100),
    constraint sources_max_pages_check CHECK (max_pages > 0),
    constraint sources_name_check CHECK (name <> ''::text),
    constraint sources_policy_check CHECK (policy = ANY (ARRAY['adaptive'::text, 'tiers'::text, 'frequency'::text, 'fixed'::text])),
    constraint sources_poll_every_check CHECK (poll_every > '00:00:00'::interval),
    constraint sources_priority_check CHECK (priority >= 1 AND priority <= 10),
    constraint sources_rate_limit_ms_check CHECK (rate_limit_ms >= 0),
    constraint sources_revisit_every_check CHECK ('00:00:00'::interval < ALL (revisit_every)),
    constraint sources_status_check CHECK (status = ANY (ARRAY['active'::text, 'paused'::text, 'blocked'::text, 'deleted'::text])),
    constraint sources_url_hash_check CHECK (length(url_hash) = 32)
);
CREATE UNIQUE INDEX sources_address ON sources USING btree (url_hash) WHERE status <> 'deleted'::text;
CREATE INDEX sources_beginning ON sources USING btree (lower(name) text_pattern_ops);
CREATE INDEX sources_by_activity ON sources USING btree ((status = 'active'::text), lower(name), id);
CREATE INDEX sources_by_creation ON sources USING btree (created_at, id);
CREATE INDEX sources_by_name ON sources USING btree (lower(name), id);
CREATE INDEX sources_by_url ON sources USING btree (url, id);
CREATE INDEX sources_deleted ON sources USING btree (url_hash) WHERE status = 'deleted'::text;
CREATE INDEX sources_ingestion_mode ON sources USING btree (ingestion_mode);
CREATE INDEX sources_of_host ON sources USING btree (host);
CREATE INDEX sources_stopped ON sources USING btree (id) WHERE status = ANY (ARRAY['paused'::text, 'blocked'::text]);
CREATE INDEX sources_stopped_lately ON sources USING btree (updated_at) WHERE status <> 'active'::text;
CREATE INDEX sources_tags ON sources USING gin (tags);
CREATE INDEX sources_unproven ON sources USING btree (id) WHERE status = 'active'::text AND NOT is_proven AND url_hash IS NOT NULL;
CREATE TRIGGER count_added AFTER INSERT ON sources REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_sources_added();
CREATE TRIGGER count_changed AFTER UPDATE OF status, url_hash ON sources FOR EACH ROW WHEN (old.status <> new.status OR (old.url_hash IS NULL) <> (new.url_hash IS NULL)) EXECUTE FUNCTION count_source_changed();
CREATE TRIGGER count_removed AFTER DELETE ON sources REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_sources_removed();

create table source_totals (
    what   text not null,
    status text not null,
    count  bigint not null,
    constraint source_totals_pkey PRIMARY KEY (what, status)
);

create table source_total_deltas (
    what   text not null,
    status text not null,
    count  bigint not null
);

create table external_ids (
    external_id text not null,
    source_id   uuid not null,
    constraint external_ids_pkey PRIMARY KEY (external_id, source_id),
    constraint external_ids_source_id_fkey FOREIGN KEY (source_id) REFERENCES sources(id) ON DELETE CASCADE
);
CREATE INDEX external_ids_of_source ON external_ids USING btree (source_id);

create table events (
    id         bigint not null generated always as identity,
    at         timestamptz not null default clock_timestamp(),
    kind       text not null,
    level      text not null default 'info'::text,
    actor      text not null,
    source_id  uuid,
    channel_id uuid,
    message    text not null,
    details    jsonb not null default '{}'::jsonb,
    constraint events_pkey PRIMARY KEY (id),
    constraint events_level_check CHECK (level = ANY (ARRAY['info'::text, 'warn'::text, 'error'::text]))
);
CREATE INDEX events_alarms ON events USING btree (source_id, id DESC) WHERE kind = ANY (ARRAY['extraction_decayed'::text, 'extraction_recovered'::text, 'channel_overflowed'::text]);
CREATE INDEX events_by_time ON events USING btree (at);
CREATE INDEX events_of_source ON events USING btree (source_id, id DESC);

create table channels (
    id                          uuid not null default gen_random_uuid(),
    source_id                   uuid not null,
    kind                        text not null,
    url                         text not null,
    url_hash                    bytea not null,
    bucket                      smallint not null,
    host                        text not null,
    title                       text,
    recipe                      text,
    is_enabled                  boolean not null default true,
    disabled_reason             text,
    is_active                   boolean not null,
    former_urls                 text[] not null default '{}'::text[],
    next_poll_at                timestamptz not null default now(),
    next_reason                 text not null default 'new'::text,
    poll_interval               interval,
    trigger                     text not null default 'schedule'::text,
    token                       uuid,
    leased_by                   text,
    lease_until                 timestamptz,
    progress                    jsonb,
    etag                        text,
    last_modified               text,
    last_polled_at              timestamptz,
    last_ok_at                  timestamptz,
    last_new_at                 timestamptz,
    newest_item_at              timestamptz,
    last_item_count             integer not null default 0,
    nochange_count              integer not null default 0,
    overflow_count              integer not null default 0,
    moved_count                 smallint not null default 0,
    silent_since                timestamptz,
    consecutive_errors          integer not null default 0,
    error_class                 text,
    class_errors                integer not null default 0,
    last_error                  text,  -- With errors in a row the last of them; without any, what was wrong with an answer that was read all the same.
    last_status                 smallint,
    rhythm                      jsonb,
    publisher_hints             jsonb not null default '{}'::jsonb,  -- What its last body asked for: a 304 does not say it again.
    created_at                  timestamptz not null default now(),
    updated_at                  timestamptz not null default now(),
    answers                     jsonb not null default '{}'::jsonb,  -- By address: validators of the further answers of the last run, and where an answer led.
    leased_at                   timestamptz,  -- Of the last lease, which may have ended.
    domains                     text[] not null default '{}'::text[],  -- The registrable domains of whose pages its words count, as of its last poll.
    speaks_for_site             boolean not null default false,  -- Wherever it lies: a person gave it, or the site of its source names it.
    foreign_day                 date,
    foreign_taken               integer not null default 0,  -- URLs of other sites it has queued on foreign_day.
    lost_count                  smallint not null default 0,  -- Leases in a row that ran out before their poll ended. Any end of a poll sets it to 0.
    named_at                    timestamptz,  -- When the last whole answer that named its vacancies was begun.
    gone_before                 timestamptz,  -- Vacancies it has not named since then are over: two answers left them out.
    doubted_since               timestamptz,  -- When its first whole answer was begun that named none of the vacancies that stood.
    is_unpolled                 boolean generated always as (last_polled_at IS NULL) stored,
    error_cause                 text,  -- Where its errors come from, where more is known than their class; of a page that could not be read, why.
    unread_page                 text,  -- A further page of its list that could not be read, though the list was.
    unread_since                timestamptz,
    held_by                     text,  -- What keeps its next poll from coming sooner, whatever interval a person sets.
    validators_checked_at       timestamptz,  -- When it was last asked without validators because it said "not modified" for longer than its rhythm explains.
    validators_distrusted_until timestamptz,  -- Until then it is asked without validators: it had said "not modified" although it had changed.
    polls_lately                real not null default 0,  -- Polls, fading with a half-life of 14 days, as of last_polled_at; so are the two after it.
    vain_polls_lately           real not null default 0,  -- Those that brought nothing new.
    new_items_lately            real not null default 0,
    waits_since                 timestamptz,  -- When it fell due, of one that was put aside since because others of its host had their turn.
    constraint channels_pkey PRIMARY KEY (id),
    constraint channels_source_id_kind_url_hash_key UNIQUE (source_id, kind, url_hash),
    constraint channels_kind_fkey FOREIGN KEY (kind) REFERENCES channel_kinds(kind),
    constraint channels_source_id_fkey FOREIGN KEY (source_id) REFERENCES sources(id),
    constraint channels_trigger_check CHECK (trigger = ANY (ARRAY['schedule'::text, 'manual'::text])),
    constraint channels_url_hash_check CHECK (length(url_hash) = 32),
    constraint leased_as_a_whole CHECK ((token IS NULL) = (lease_until IS NULL))
) with (fillfactor=70);
CREATE INDEX channels_ailing ON channels USING btree (source_id) WHERE is_active AND (consecutive_errors > 0 OR silent_since IS NOT NULL OR last_error IS NOT NULL OR last_item_count = 0 AND last_ok_at IS NOT NULL AND (kind = ANY (ARRAY['feed'::text, 'listing'::text])));
CREATE INDEX channels_at_work ON channels USING btree (bucket, host) WHERE token IS NOT NULL;
CREATE INDEX channels_crawls ON channels USING btree (source_id) INCLUDE (bucket, url_hash) WHERE is_active AND kind = 'crawl'::text;
CREATE INDEX channels_due ON channels USING btree (is_unpolled, next_poll_at) WHERE is_active;
CREATE INDEX channels_failing ON channels USING btree (source_id) WHERE is_active AND consecutive_errors > 0;
CREATE INDEX channels_idle ON channels USING btree (COALESCE(last_new_at, created_at)) WHERE is_active;
CREATE INDEX channels_in_vain ON channels USING btree (vain_polls_lately DESC) WHERE is_active;
CREATE INDEX channels_leased ON channels USING btree (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX channels_of_host ON channels USING btree (bucket, host, next_poll_at);
CREATE UNIQUE INDEX channels_one_feed ON channels USING btree (url_hash) WHERE kind = 'feed'::text AND is_enabled;
CREATE INDEX channels_silent ON channels USING btree (source_id) WHERE is_active AND silent_since IS NOT NULL;
CREATE INDEX channels_suspected ON channels USING btree (next_poll_at) WHERE token IS NOT NULL OR lost_count > 0;
CREATE INDEX channels_switched_off ON channels USING btree (source_id) WHERE NOT is_enabled;
CREATE INDEX channels_worst ON channels USING btree (consecutive_errors, id) WHERE is_active AND consecutive_errors > 0;
CREATE TRIGGER channels_look_at_hub AFTER UPDATE OF is_active ON channels FOR EACH ROW WHEN (old.is_active <> new.is_active) EXECUTE FUNCTION look_at_hub();
CREATE TRIGGER count_added AFTER INSERT ON channels REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_channels_added();
CREATE TRIGGER count_changed AFTER UPDATE OF is_active ON channels FOR EACH ROW WHEN (old.is_active <> new.is_active) EXECUTE FUNCTION count_channel_changed();
CREATE TRIGGER count_removed AFTER DELETE ON channels REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_channels_removed();

create table channel_items (
    channel_id    uuid not null,
    url_hash      bytea not null,
    bucket        smallint not null,
    signature     bytea not null,  -- What it said, in short. Empty: it was listed and refused, and nothing else of it is kept.
    title         text,
    author        text,
    summary       text,
    content       text,
    language      text,
    published_at  timestamptz,
    updated_at    timestamptz,
    fields        jsonb,
    first_seen_at timestamptz not null default now(),
    last_seen_at  timestamptz not null default now(),
    constraint channel_items_pkey PRIMARY KEY (channel_id, url_hash),
    constraint channel_items_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels(id) ON DELETE CASCADE,
    constraint channel_items_url_hash_check CHECK (length(url_hash) = 32)
) with (fillfactor=85);
CREATE INDEX channel_items_entry ON channel_items USING btree (bucket, url_hash);
CREATE INDEX channel_items_fresh ON channel_items USING btree (first_seen_at);
CREATE INDEX channel_items_old ON channel_items USING brin (last_seen_at);
CREATE INDEX channel_items_refused ON channel_items USING btree (channel_id) WHERE signature = '\x'::bytea;

create table runs (
    at           timestamptz not null,
    id           uuid not null,
    source_id    uuid not null,
    channel_id   uuid not null,
    kind         text not null,
    trigger      text not null,
    status       text not null,
    requests     integer not null default 0,
    found        integer not null default 0,
    inserted     integer not null default 0,
    updated      integer not null default 0,
    skipped      integer not null default 0,
    errors       integer not null default 0,
    duration_ms  integer not null,
    http_status  smallint,
    error_class  text,
    message      text not null default ''::text,
    next_poll_at timestamptz,
    next_reason  text,
    policy       text,
    constraint runs_status_check CHECK (status = ANY (ARRAY['ok'::text, 'warn'::text, 'fail'::text]))
) partition by range (at);
CREATE INDEX runs_of_channel ON ONLY runs USING btree (channel_id, at DESC);
CREATE INDEX runs_of_source ON ONLY runs USING btree (source_id, at DESC);
CREATE INDEX runs_recent ON ONLY runs USING btree (at);

create table runs_default partition of runs default;

create table run_minutes (
    minute timestamptz not null,
    runs   integer not null,
    failed integer not null,
    found  bigint not null,
    constraint run_minutes_pkey PRIMARY KEY (minute)
);

create table cadence (
    only_row   boolean not null default true,
    state      jsonb not null default '{}'::jsonb,
    steered_at timestamptz not null default now(),
    constraint cadence_pkey PRIMARY KEY (only_row),
    constraint cadence_only_row_check CHECK (only_row)
);

create table hosts (
    bucket           smallint not null,
    host             text not null,
    base_delay_ms    integer not null default 1000,  -- Where nobody asks for more: by the kind of source that found the host first.
    delay_ms         integer not null,
    penalty_ms       integer not null default 0,
    max_concurrency  smallint not null default 1,
    burst            smallint not null default 1,
    in_flight        smallint not null default 0,
    good_in_a_row    smallint not null default 0,
    bad_in_a_row     smallint not null default 0,  -- Requests in a row that did not even reach it.
    owes_claim       boolean not null default false,  -- A reservation has had its turn; before the next one a claim may have its own.
    next_slot_at     timestamptz not null default '-infinity'::timestamptz,  -- No request may start earlier; granted slots lie spacing apart.
    yield_until      timestamptz not null default '-infinity'::timestamptz,  -- Claims leave the host alone until then, so that a refused reservation gets its turn.
    closed_until     timestamptz not null default '-infinity'::timestamptz,
    last_fetch_at    timestamptz,
    wake_at          timestamptz not null default 'infinity'::timestamptz,
    promote_at       timestamptz not null default 'infinity'::timestamptz,
    priority         smallint not null default 0,
    domain           text,  -- Its registrable domain by the public suffix list; null until maintenance has named it.
    is_doubted       boolean not null default true,  -- It has never answered within seconds, or did not at the last try.
    steps_back       smallint not null default 0,  -- Levels it stands lower while in doubt: the more, the more new hosts its source brought before it.
    found_by         uuid,  -- The source that queued its first URL.
    address          text,  -- The address it was last asked at; of IPv6 its /64. None inside networks of our own.
    address_delay_ms integer not null default 0,  -- What the names of its address ask of each other, by maintenance.
    line             smallint generated always as (
CASE
    WHEN priority <= 0 THEN 0
    WHEN is_doubted THEN GREATEST(1, (priority - steps_back)::integer)
    ELSE priority + 10
END) stored,  -- Where claims look for it: 20 to 11 by the best priority due, 10 to 1 while in doubt, 0 nowhere.
    created_at       timestamptz not null default now(),  -- When it was first heard of.
    constraint hosts_pkey PRIMARY KEY (bucket, host),
    constraint hosts_address_delay_ms_check CHECK (address_delay_ms >= 0 AND address_delay_ms <= 86400000),
    constraint hosts_base_delay_ms_check CHECK (base_delay_ms >= 0 AND base_delay_ms <= 86400000),
    constraint hosts_bucket_check CHECK (bucket >= 0 AND bucket <= 255),
    constraint hosts_burst_check CHECK (burst >= 1 AND burst <= 1000),
    constraint hosts_delay_ms_check CHECK (delay_ms >= 0 AND delay_ms <= 86400000),
    constraint hosts_host_check CHECK (length(host) >= 1 AND length(host) <= 255),
    constraint hosts_in_flight_check CHECK (in_flight >= 0),
    constraint hosts_max_concurrency_check CHECK (max_concurrency >= 1 AND max_concurrency <= 1000)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_cost_delay=0, autovacuum_analyze_threshold=10000);
CREATE INDEX hosts_address ON hosts USING btree (address) WHERE address IS NOT NULL;
CREATE INDEX hosts_open ON hosts USING btree (line, wake_at, bucket) WHERE line > 0;
CREATE INDEX hosts_paced ON hosts USING btree (address) WHERE address_delay_ms > 0;
CREATE INDEX hosts_promoted ON hosts USING btree (promote_at) WHERE promote_at < 'infinity'::timestamptz;
CREATE INDEX hosts_unnamed ON hosts USING btree (bucket, host) WHERE domain IS NULL;
CREATE TRIGGER note_address_added AFTER INSERT ON hosts FOR EACH ROW WHEN (new.address IS NOT NULL) EXECUTE FUNCTION note_address_change();
CREATE TRIGGER note_address_changed AFTER UPDATE OF address, domain, is_doubted ON hosts FOR EACH ROW WHEN ((old.address IS NOT NULL OR new.address IS NOT NULL) AND (old.address IS DISTINCT FROM new.address OR old.domain IS DISTINCT FROM new.domain OR old.is_doubted IS DISTINCT FROM new.is_doubted)) EXECUTE FUNCTION note_address_change();

create table address_changes (
    address text not null
);

create table crowded_addresses (
    address text not null,
    constraint crowded_addresses_pkey PRIMARY KEY (address)
);

create table host_policies (
    bucket                  smallint not null,
    host                    text not null,
    max_concurrency         smallint,
    min_request_interval_ms integer,
    burst                   smallint,
    max_pages               integer,
    max_kb_per_page         integer,
    allow_js                boolean,
    crawl_delay_ms          integer,
    source_delay_ms         integer,
    is_unpaced              boolean not null default false,  -- The default delay is left out: politeness is off, and it lies in a network of our own.
    updated_at              timestamptz not null default now(),
    serves_jobs             boolean not null default false,
    constraint host_policies_pkey PRIMARY KEY (bucket, host),
    constraint host_policies_burst_check CHECK (burst >= 1 AND burst <= 1000),
    constraint host_policies_crawl_delay_ms_check CHECK (crawl_delay_ms >= 0 AND crawl_delay_ms <= 86400000),
    constraint host_policies_max_concurrency_check CHECK (max_concurrency >= 1 AND max_concurrency <= 1000),
    constraint host_policies_max_kb_per_page_check CHECK (max_kb_per_page > 0),
    constraint host_policies_max_pages_check CHECK (max_pages >= 0),
    constraint host_policies_min_request_interval_ms_check CHECK (min_request_interval_ms >= 0 AND min_request_interval_ms <= 86400000),
    constraint host_policies_source_delay_ms_check CHECK (source_delay_ms >= 0 AND source_delay_ms <= 86400000)
);
CREATE INDEX host_policies_unpaced ON host_policies USING btree (bucket, host) WHERE is_unpaced;

create table host_closures (
    bucket   smallint not null,
    host     text not null,
    reason   text not null,
    until    timestamptz not null,
    noted_at timestamptz not null default clock_timestamp(),
    constraint host_closures_pkey PRIMARY KEY (bucket, host, reason),
    constraint host_closures_reason_check CHECK (reason = ANY (ARRAY['retry_after'::text, 'breaker'::text, 'robots_unreachable'::text, 'paused'::text, 'takedown'::text]))
);
CREATE TRIGGER note_closure BEFORE INSERT OR UPDATE ON host_closures FOR EACH ROW EXECUTE FUNCTION note_closure();

create table host_statistics (
    bucket       smallint not null,
    host         text not null,
    requests     bigint not null default 0,
    succeeded    bigint not null default 0,
    failed       bigint not null default 0,
    rate_limited bigint not null default 0,
    body_bytes   bigint not null default 0,
    busy_ms      bigint not null default 0,
    last_status  smallint,
    last_seen_at timestamptz,
    constraint host_statistics_pkey PRIMARY KEY (bucket, host)
);

create table host_rules (
    bucket       smallint not null,
    host         text not null,
    keep_slash   boolean not null default false,
    keep_params  text[] not null default '{}'::text[],
    strip_params text[] not null default '{}'::text[],
    changed_at   timestamptz not null default now(),
    pass_from    timestamptz,  -- When the present walk through its entries began; null: none is under way.
    position     bytea not null default '\x'::bytea,
    has_missed   boolean not null default false,  -- An entry was being fetched when the walk came by: another walk is needed.
    rekeyed_at   timestamptz,
    constraint host_rules_pkey PRIMARY KEY (bucket, host)
);
CREATE INDEX host_rules_to_apply ON host_rules USING btree (changed_at) WHERE rekeyed_at IS NULL;

create table new_hosts (
    source_id uuid not null,
    hour      timestamptz not null,
    hosts     integer not null,
    refused   integer not null default 0,
    constraint new_hosts_pkey PRIMARY KEY (source_id, hour)
);

create table slots (
    bucket      smallint not null,
    token       uuid not null,
    host        text not null,
    kind        text not null,
    owner       text not null,
    starts_at   timestamptz not null,
    expires_at  timestamptz not null,
    url_hash    bytea,
    source_id   uuid,
    from_status text,
    constraint slots_pkey PRIMARY KEY (bucket, token)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0);
CREATE INDEX slots_expiry ON slots USING btree (expires_at);
CREATE INDEX slots_of_owner ON slots USING btree (owner);

create unlogged table sleepers (
    owner     text not null,
    until     timestamptz not null,
    waits_for text not null default 'work'::text,
    constraint sleepers_pkey PRIMARY KEY (owner)
);

create table robots (
    bucket         smallint not null,
    host           text not null,
    scheme         text not null,
    port           integer not null,
    access         text not null,
    body           bytea,
    body_hash      bytea,
    http_status    smallint,
    failure        text,
    failing_since  timestamptz,
    fetched_at     timestamptz not null,
    expires_at     timestamptz not null,
    etag           text,
    last_modified  text,
    crawl_delay_ms integer,
    sitemaps       text[] not null default '{}'::text[],
    disallow       jsonb,  -- The paths its rules forbid us, as written; null: not read since this is kept.
    constraint robots_pkey PRIMARY KEY (bucket, host, scheme, port),
    constraint robots_access_check CHECK (access = ANY (ARRAY['rules'::text, 'allow_all'::text, 'unreachable'::text])),
    constraint robots_port_check CHECK (port >= 1 AND port <= 65535),
    constraint robots_scheme_check CHECK (scheme = ANY (ARRAY['http'::text, 'https'::text]))
);
CREATE INDEX robots_expiry ON robots USING btree (expires_at);

create table url_frontier (
    bucket          smallint not null,
    url_hash        bytea not null,
    host            text not null,
    url             text not null,
    source_id       uuid not null,
    origin          text not null,
    parent_url      text,
    depth           smallint not null default 0,
    priority        smallint not null,
    status          text not null default 'pending'::text,
    held            text,
    next_fetch_at   timestamptz not null default now(),
    token           uuid,
    retry_count     smallint not null default 0,
    crash_count     smallint not null default 0,
    fetch_count     integer not null default 0,
    hops            smallint not null default 0,
    resume_url      text,
    moved_to        text,
    reason          text,
    last_error      text,
    last_status     smallint,
    etag            text,
    last_modified   text,
    content_hash    bytea,  -- Of the text that was extracted; of the body where a page has no article, such as a list. Null: it is to be read, whatever it says.
    changed_at      timestamptz,
    revisit_at      timestamptz,
    last_fetched_at timestamptz,
    discovered_at   timestamptz not null default now(),
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    owner_rank      smallint not null default 0,  -- 2: it lies below the address of the source that owns it; 1: that one may speak for its host; 0: a stranger.
    reads_anew      boolean not null default false,  -- Another source took it over during a fetch: it is fetched and read again for that one.
    constraint url_frontier_pkey PRIMARY KEY (bucket, url_hash),
    constraint dead_has_a_reason CHECK (status <> 'dead'::text OR reason IS NOT NULL),
    constraint held_only_while_waiting CHECK (held IS NULL OR (status = ANY (ARRAY['pending'::text, 'failed'::text]))),
    constraint leased_while_fetching CHECK ((status = 'fetching'::text) = (token IS NOT NULL)),
    constraint url_frontier_held_check CHECK (held = ANY (ARRAY['paused'::text, 'suspect'::text])),
    constraint url_frontier_origin_check CHECK (origin = ANY (ARRAY['feed'::text, 'sitemap'::text, 'spider'::text, 'manual'::text, 'api'::text])),
    constraint url_frontier_priority_check CHECK (priority >= 1 AND priority <= 10),
    constraint url_frontier_status_check CHECK (status = ANY (ARRAY['pending'::text, 'fetching'::text, 'fetched'::text, 'failed'::text, 'dead'::text])),
    constraint url_frontier_url_hash_check CHECK (length(url_hash) = 32)
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000, autovacuum_vacuum_cost_delay=0, autovacuum_analyze_scale_factor=0.05);
CREATE INDEX url_frontier_failures ON url_frontier USING btree (status, reason, bucket, url_hash) WHERE (status = ANY (ARRAY['failed'::text, 'dead'::text])) AND reason IS NOT NULL;
CREATE INDEX url_frontier_paused ON url_frontier USING btree (source_id, bucket, url_hash) WHERE held = 'paused'::text;
CREATE INDEX url_frontier_poison ON url_frontier USING btree (updated_at) WHERE status = 'dead'::text AND reason = 'poison'::text;
CREATE INDEX url_frontier_revisit ON url_frontier USING btree (revisit_at) WHERE status = 'fetched'::text AND revisit_at IS NOT NULL;
CREATE INDEX url_frontier_robots ON url_frontier USING btree (bucket, host) WHERE status = 'dead'::text AND reason = 'robots_blocked'::text;
CREATE INDEX url_frontier_suspect ON url_frontier USING btree (bucket, next_fetch_at) WHERE held = 'suspect'::text;
CREATE INDEX url_frontier_waiting ON url_frontier USING btree (bucket, host, priority DESC, next_fetch_at) WHERE (status = ANY (ARRAY['pending'::text, 'failed'::text])) AND held IS NULL;

create table discoveries (
    bucket        smallint not null,
    url_hash      bytea not null,
    source_id     uuid not null,
    channel_id    uuid,
    origin        text not null,
    parent_url    text,
    depth         smallint not null default 0,
    first_seen_at timestamptz not null default now(),
    rank          smallint not null default 0,
    constraint discoveries_pkey PRIMARY KEY (source_id, bucket, url_hash)
);
CREATE INDEX discoveries_entry ON discoveries USING btree (bucket, url_hash);

create table counters (
    source_id uuid not null,
    status    text not null,
    entries   bigint not null,
    constraint counters_pkey PRIMARY KEY (source_id, status)
);

create table counter_deltas (
    source_id uuid not null,
    status    text not null,
    entries   bigint not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_cost_delay=0);

create table counter_totals (
    status  text not null,
    entries bigint not null,
    constraint counter_totals_pkey PRIMARY KEY (status)
);

create table fetch_log (
    at          timestamptz not null,
    bucket      smallint not null,
    host        text not null,
    token       uuid not null,
    kind        text not null,
    owner       text not null,
    url_hash    bytea,
    started_at  timestamptz,
    delay_ms    integer,
    duration_ms integer,
    status      smallint,
    body_bytes  bigint,
    verdict     text not null,
    reason      text,
    sent_from   inet  -- The address of our machine that it left from; behind NAT not the one that its server saw.
) partition by range (at);
CREATE INDEX fetch_log_entry ON ONLY fetch_log USING btree (bucket, url_hash);
CREATE INDEX fetch_log_recent ON ONLY fetch_log USING btree (at);

create table fetch_log_default partition of fetch_log default;

create table statistics_mark (
    only_row          boolean not null default true,
    folded_until      timestamptz not null,
    runs_folded_until timestamptz not null default now() - '1 day'::interval,
    constraint statistics_mark_pkey PRIMARY KEY (only_row),
    constraint statistics_mark_only_row_check CHECK (only_row)
);

create table request_minutes (
    minute     timestamptz not null,
    kind       text not null,
    class      text not null,
    requests   bigint not null,
    body_bytes bigint not null,
    busy_ms    bigint not null,
    constraint request_minutes_pkey PRIMARY KEY (minute, kind, class)
);

create table request_totals (
    kind       text not null,
    class      text not null,
    requests   bigint not null,
    body_bytes bigint not null,
    busy_ms    bigint not null,
    constraint request_totals_pkey PRIMARY KEY (kind, class)
);

create table takedowns (
    domain_or_url text not null,
    domain        text not null,
    key_prefix    text,
    reason        text,
    created_at    timestamptz not null default now(),
    swept_at      timestamptz,  -- When everything of it had been ended and withdrawn; null: still being applied.
    constraint takedowns_pkey PRIMARY KEY (domain_or_url)
);
CREATE INDEX takedowns_domain ON takedowns USING btree (domain);
CREATE INDEX takedowns_unswept ON takedowns USING btree (created_at) WHERE swept_at IS NULL;

create table documents (
    bucket            smallint not null,
    url_hash          bytea not null,
    source_id         uuid not null,
    url               text not null,
    canonical_url     text not null,  -- Its own address, or the one it claims while that is believed.
    title             text not null,
    text              text not null,
    summary           text not null,
    author            text not null,
    published_at      timestamptz,
    updated_at        timestamptz,  -- What the page says of itself.
    language          text not null,
    section           text not null,
    keywords          text[] not null,
    images            text[] not null,
    word_count        integer not null,
    page_type         text not null,
    quality           smallint,
    quality_parts     jsonb not null,
    content_hash      bytea not null,
    simhash           bigint,  -- Null: too short to be compared.
    produced_by       text not null,
    metadata          jsonb not null,
    version           integer not null,  -- Grows with every change, also with a deletion: what a sink has is never newer.
    crawled_at        timestamptz not null,
    first_seen_at     timestamptz not null,
    changed_at        timestamptz not null,
    duplicate_bucket  smallint,
    duplicate_of      bytea,
    near_bucket       smallint,
    near_duplicate_of bytea,
    claimed_bucket    smallint,
    claimed_hash      bytea,  -- The other page that its own page calls canonical. Null: it names none.
    deleted_at        timestamptz,
    deleted_reason    text,
    search            tsvector storage external,
    claimed_url       text,
    is_claim_believed boolean not null default false,
    told_since        timestamptz,  -- Since when its page tells this story: its discovery, or a new beginning. Null: first_seen_at.
    told_first        bigint,  -- The simhash of the text with which this story began.
    is_emptied        boolean not null default false,
    rights            text[] not null default '{}'::text[],  -- What was said, use by use: train=refused. A use that is not named here is unknown.
    rights_statements jsonb,  -- Who said so, where, and in which words; null: nobody.
    authors           text[] not null default '{}'::text[],
    blocks            bytea storage external,  -- JSON, compressed by zstd with the text as its dictionary. Null: the lines of the text say it all.
    constraint documents_pkey PRIMARY KEY (bucket, url_hash),
    constraint believed_is_a_duplicate CHECK (NOT is_claim_believed OR claimed_hash IS NOT NULL AND duplicate_of IS NOT NULL),
    constraint claim_as_a_whole CHECK ((claimed_bucket IS NULL) = (claimed_hash IS NULL) AND (claimed_url IS NULL) = (claimed_hash IS NULL)),
    constraint deleted_for_a_reason CHECK ((deleted_at IS NULL) = (deleted_reason IS NULL)),
    constraint deleted_is_nobodys_duplicate CHECK (deleted_at IS NULL OR duplicate_of IS NULL),
    constraint deleted_is_out_of_search CHECK (deleted_at IS NULL OR search IS NULL) NOT VALID,
    constraint documents_content_hash_check CHECK (length(content_hash) = 32),
    constraint documents_url_hash_check CHECK (length(url_hash) = 32),
    constraint documents_version_check CHECK (version > 0),
    constraint duplicate_of_a_whole_key CHECK ((duplicate_bucket IS NULL) = (duplicate_of IS NULL)),
    constraint near_a_whole_key CHECK ((near_bucket IS NULL) = (near_duplicate_of IS NULL))
) with (fillfactor=85, toast_tuple_target=512);
CREATE INDEX documents_by_age ON documents USING btree (changed_at, bucket, url_hash) WHERE NOT is_emptied;
CREATE INDEX documents_by_time ON documents USING btree (first_seen_at DESC, bucket, url_hash) WHERE deleted_at IS NULL;
CREATE INDEX documents_claiming ON documents USING btree (host_backwards(claimed_url) COLLATE "C", bucket, url_hash) WHERE claimed_url IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX documents_claims ON documents USING btree (claimed_bucket, claimed_hash, is_claim_believed, url_hash) WHERE claimed_hash IS NOT NULL;
CREATE INDEX documents_duplicates ON documents USING btree (duplicate_bucket, duplicate_of, COALESCE(told_since, first_seen_at)) WHERE duplicate_of IS NOT NULL;
CREATE INDEX documents_hurried ON documents USING btree (changed_at) WHERE produced_by = 'trafilatura_cropped'::text AND deleted_at IS NULL;
CREATE INDEX documents_like_0 ON documents USING btree (likeness_piece(simhash, 0), first_seen_at) INCLUDE (simhash, bucket, url_hash) WHERE simhash IS NOT NULL AND duplicate_of IS NULL AND deleted_at IS NULL;
CREATE INDEX documents_like_1 ON documents USING btree (likeness_piece(simhash, 1), first_seen_at) INCLUDE (simhash, bucket, url_hash) WHERE simhash IS NOT NULL AND duplicate_of IS NULL AND deleted_at IS NULL;
CREATE INDEX documents_like_2 ON documents USING btree (likeness_piece(simhash, 2), first_seen_at) INCLUDE (simhash, bucket, url_hash) WHERE simhash IS NOT NULL AND duplicate_of IS NULL AND deleted_at IS NULL;
CREATE INDEX documents_like_3 ON documents USING btree (likeness_piece(simhash, 3), first_seen_at) INCLUDE (simhash, bucket, url_hash) WHERE simhash IS NOT NULL AND duplicate_of IS NULL AND deleted_at IS NULL;
CREATE INDEX documents_of_language ON documents USING btree (language, first_seen_at DESC, bucket, url_hash) WHERE deleted_at IS NULL AND language IS NOT NULL;
CREATE INDEX documents_of_source ON documents USING btree (source_id, first_seen_at DESC, bucket, url_hash) WHERE deleted_at IS NULL;
CREATE INDEX documents_original ON documents USING btree (content_hash) WHERE duplicate_of IS NULL AND deleted_at IS NULL;
CREATE INDEX documents_search ON documents USING gin (search) WITH (gin_pending_list_limit='1024');

create table document_versions (
    bucket            smallint not null,
    url_hash          bytea not null,
    version           integer not null,
    title             text not null,
    text              text not null,
    summary           text not null,
    author            text not null,
    published_at      timestamptz,
    updated_at        timestamptz,
    word_count        integer not null,
    content_hash      bytea not null,
    simhash           bigint,
    produced_by       text not null,
    crawled_at        timestamptz not null,
    changed_at        timestamptz not null,
    replaced_at       timestamptz not null,
    rights            text[] not null default '{}'::text[],
    rights_statements jsonb,
    blocks            bytea storage external,
    constraint document_versions_pkey PRIMARY KEY (bucket, url_hash, version)
);
CREATE INDEX document_versions_by_age ON document_versions USING btree (replaced_at);

create table raw_bodies (
    at         timestamptz not null,
    bucket     smallint not null,
    url_hash   bytea not null,
    source_id  uuid not null,
    url        text not null,
    status     smallint not null,
    headers    jsonb not null,
    body       bytea not null storage external,  -- Packed, in the coding that is named; body_bytes is its length before.
    body_bytes integer not null,
    coding     text not null default 'zstd'::text,
    stored_in  text,  -- folder or s3: where the body lies, under object_id; null: in this row.
    object_id  uuid,
    constraint raw_bodies_body_bytes_check CHECK (body_bytes >= 0)
) partition by range (at);
CREATE INDEX raw_bodies_of_document ON ONLY raw_bodies USING btree (bucket, url_hash, at DESC);
CREATE INDEX raw_bodies_of_object ON ONLY raw_bodies USING btree (object_id) WHERE object_id IS NOT NULL;
CREATE INDEX raw_bodies_of_source ON ONLY raw_bodies USING btree (source_id, bucket, url_hash, at DESC);
CREATE TRIGGER raw_bodies_deleted AFTER DELETE ON raw_bodies FOR EACH ROW WHEN (old.object_id IS NOT NULL) EXECUTE FUNCTION note_removed_body();
CREATE TRIGGER raw_bodies_moved AFTER UPDATE OF object_id ON raw_bodies FOR EACH ROW WHEN (old.object_id IS NOT NULL AND old.object_id IS DISTINCT FROM new.object_id) EXECUTE FUNCTION note_removed_body();

create table raw_bodies_default partition of raw_bodies default;
CREATE INDEX raw_bodies_default_at ON raw_bodies_default USING btree (at);
CREATE TRIGGER raw_bodies_deleted AFTER DELETE ON raw_bodies_default FOR EACH ROW WHEN (old.object_id IS NOT NULL) EXECUTE FUNCTION note_removed_body();
CREATE TRIGGER raw_bodies_moved AFTER UPDATE OF object_id ON raw_bodies_default FOR EACH ROW WHEN (old.object_id IS NOT NULL AND old.object_id IS DISTINCT FROM new.object_id) EXECUTE FUNCTION note_removed_body();

create table outlinks (
    bucket   smallint not null,
    url_hash bytea not null,
    targets  bytea not null storage external,  -- One URL a line, compressed with zstd: a third of what an array takes to write.
    constraint outlinks_pkey PRIMARY KEY (bucket, url_hash)
);

create table outbox (
    seq     bigint not null generated always as identity,
    kind    text not null,
    bucket  smallint not null,
    hash    bytea not null,
    version integer not null,
    op      text not null,
    at      timestamptz not null,
    constraint outbox_pkey PRIMARY KEY (seq),
    constraint outbox_kind_check CHECK (kind = ANY (ARRAY['document'::text, 'job'::text])),
    constraint outbox_op_check CHECK (op = ANY (ARRAY['upsert'::text, 'delete'::text]))
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_cost_delay=0);

create table jobs (
    bucket                   smallint not null,
    canonical_hash           bytea not null,
    id                       uuid generated always as (entry_id(bucket, canonical_hash)) stored,
    source_id                uuid not null,  -- The source that tells it. Others that see it, too, stand in job_sightings.
    channel_id               uuid,
    document_bucket          smallint,
    document_hash            bytea,
    title                    text not null,
    org_name                 text not null,
    apply_url                text not null,
    language                 text not null,
    location_raw             text not null,
    country                  text,
    country_name             text generated always as (country) stored,
    country_iso              text,
    city                     text,
    region_code              text,
    level_norm               text,
    mission_tags             text[] not null,
    functional_tags          text[] not null,
    international_eligible   boolean not null,
    deadline                 date,
    application_window       jsonb not null,
    description_snippet      text not null,
    org_type                 text,
    career_type              text,
    contract_type            text,
    contract_duration_months integer,
    contract_urgency         text,
    work_modality            text,
    work_hours               text,
    benefits                 text[] not null,
    policy_flags             text[] not null,
    donor_context            text[] not null,
    project_modality         text,
    procurement_vehicle      text,
    crisis_type              text[] not null,
    response_phase           text,
    humanitarian_cluster     text[] not null,
    surge_required           boolean,
    deployment_timeframe     text,
    duty_station_hardship    text,
    compensation_visible     boolean not null,
    compensation_type        text,
    compensation_min_usd     numeric,
    compensation_max_usd     numeric,
    compensation_currency    text,
    compensation_confidence  real,
    data_provenance          text not null,
    raw_metadata             jsonb not null,
    duplicate_of             uuid,
    impact_domain            text[],
    functional_role          text[],
    experience_level         text,
    sdgs                     smallint[],
    data_quality_score       smallint,
    data_quality_issues      text[],
    status                   text not null default 'active'::text,
    version                  integer not null default 1,
    is_detailed              boolean not null,  -- Its own page was read, which knows more than a list.
    fetched_at               timestamptz not null,  -- When what stands here was read.
    last_seen_at             timestamptz not null,
    listed_at                timestamptz,  -- When its channel last named it; last_seen_at also moves with its own page.
    created_at               timestamptz not null,
    updated_at               timestamptz not null,
    deleted_at               timestamptz,
    deleted_by               text,
    deleted_reason           text,
    search_tsv               tsvector,
    page_url                 text not null default ''::text,  -- The address its words were read from: its own page, or the list that named it.
    is_spoken_for            boolean not null default false,  -- Whether its words come from whoever may speak for the host where one applies.
    constraint jobs_pkey PRIMARY KEY (bucket, canonical_hash),
    constraint deleted_by_somebody CHECK ((status = 'deleted'::text) = (deleted_at IS NOT NULL)),
    constraint document_as_a_whole CHECK ((document_bucket IS NULL) = (document_hash IS NULL)),
    constraint jobs_canonical_hash_check CHECK (length(canonical_hash) = 32),
    constraint jobs_status_check CHECK (status = ANY (ARRAY['active'::text, 'expired'::text, 'deleted'::text])),
    constraint jobs_title_check CHECK (title <> ''::text),
    constraint jobs_version_check CHECK (version > 0)
) with (fillfactor=80, toast_tuple_target=512);
CREATE INDEX jobs_apply_host ON jobs USING btree (host_backwards(apply_url) COLLATE "C", bucket, canonical_hash) WHERE status <> 'deleted'::text;
CREATE INDEX jobs_by_time ON jobs USING btree (created_at DESC, bucket, canonical_hash);
CREATE INDEX jobs_deadline ON jobs USING btree (deadline) WHERE status = 'active'::text;
CREATE INDEX jobs_language ON jobs USING btree (language) WHERE status = 'active'::text;
CREATE INDEX jobs_of_channel ON jobs USING btree (channel_id) WHERE status = 'active'::text;
CREATE INDEX jobs_of_page ON jobs USING btree (hashtextextended(page_url, 0::bigint)) WHERE is_detailed AND status = 'active'::text;
CREATE INDEX jobs_of_source ON jobs USING btree (source_id, created_at DESC, bucket, canonical_hash);
CREATE INDEX jobs_page_host ON jobs USING btree (host_backwards(page_url) COLLATE "C", bucket, canonical_hash) WHERE status <> 'deleted'::text;
CREATE INDEX jobs_search ON jobs USING gin (search_tsv) WITH (gin_pending_list_limit='1024');

create table job_sightings (
    bucket         smallint not null,
    canonical_hash bytea not null,
    source_id      uuid not null,
    channel_id     uuid,  -- Null: on a page, not in a list.
    url            text not null,  -- Where it was seen: a list, or a page.
    first_seen_at  timestamptz not null,
    last_seen_at   timestamptz not null,
    constraint job_sightings_bucket_canonical_hash_source_id_channel_id_key UNIQUE NULLS NOT DISTINCT (bucket, canonical_hash, source_id, channel_id)
) with (fillfactor=85);
CREATE INDEX job_sightings_host ON job_sightings USING btree (host_backwards(url) COLLATE "C");
CREATE INDEX job_sightings_of_source ON job_sightings USING btree (source_id);
CREATE INDEX job_sightings_old ON job_sightings USING brin (last_seen_at);

create table learning_hosts (
    bucket      smallint not null,
    host        text not null,
    source_id   uuid not null,  -- Whose page came last: its trail tells of the template.
    pool        bytea[] not null default '{}'::bytea[],  -- Hashes of stored pages that were read well, the newest last; bounded by its writer.
    refused     bytea[] not null default '{}'::bytea[],  -- The same of pages that the host's template refused.
    fresh       integer not null default 0,  -- Pages that joined the pool since the last lesson.
    failures    integer not null default 0,
    learn_at    timestamptz,  -- When a lesson is due. Whoever begins one moves it: if he dies, it is due again.
    why         text not null default ''::text,  -- What the next lesson is for, or the last one was.
    outcome     text not null default ''::text,
    learned_at  timestamptz,
    disabled_at timestamptz,
    constraint learning_hosts_pkey PRIMARY KEY (bucket, host),
    constraint disabled_learns_nothing CHECK (disabled_at IS NULL OR learn_at IS NULL)
) with (fillfactor=70);
CREATE INDEX learning_by_name ON learning_hosts USING btree (host, bucket);
CREATE INDEX learning_due ON learning_hosts USING btree (learn_at) WHERE learn_at IS NOT NULL;

create table templates (
    bucket     smallint not null,
    host       text not null,
    section    text not null,
    version    integer not null,
    status     text not null default 'active'::text,
    template   jsonb not null,
    pages      integer not null,
    agreement  real not null,  -- With the general extractor, on the pages it was learned from.
    learned_at timestamptz not null,
    ended_at   timestamptz,
    why_ended  text,
    served     bigint not null default 0,
    refused    bigint not null default 0,
    audited    bigint not null default 0,
    refusing   real not null default 0,  -- Which share of the last pages it refused.
    agreeing   real,  -- The same on pages served lately; null until one was audited.
    reasons    jsonb not null default '{}'::jsonb,  -- How often it refused for which reason.
    used_at    timestamptz not null,
    constraint templates_pkey PRIMARY KEY (bucket, host, section, version),
    constraint ended_for_a_reason CHECK ((status = 'active'::text) = (ended_at IS NULL) AND (ended_at IS NULL) = (why_ended IS NULL)),
    constraint templates_status_check CHECK (status = ANY (ARRAY['active'::text, 'replaced'::text, 'off'::text, 'expired'::text])),
    constraint templates_version_check CHECK (version > 0)
) with (fillfactor=70);
CREATE UNIQUE INDEX templates_active ON templates USING btree (bucket, host, section) WHERE status = 'active'::text;
CREATE INDEX templates_unused ON templates USING btree (used_at) WHERE status = 'active'::text;

create table role_processes (
    id             uuid not null,
    owner          text not null,
    role           text not null,
    does           text[] not null,
    host           text not null,
    pid            integer not null,
    version        text not null,
    started_at     timestamptz not null default now(),
    beat_at        timestamptz not null,
    counts         jsonb not null,  -- Since its start; role_figures has the same by ten minutes.
    failing        jsonb not null,  -- Tasks that fail at present, each with the sentence of its last error.
    drain_asked_at timestamptz,  -- A person asked it to take on nothing more; null: it works.
    drain_asked_by text,
    is_draining    boolean not null default false,  -- It has heard so, with its last beat.
    under_way      integer not null default 0,  -- Pieces of leased work it had in hand at its last beat.
    constraint role_processes_pkey PRIMARY KEY (id)
) with (fillfactor=50);

create table role_figures (
    since      timestamptz not null,
    figure     text not null,
    process_id uuid not null,
    count      bigint not null,
    said       text not null default ''::text,
    constraint role_figures_pkey PRIMARY KEY (since, figure, process_id)
);

create table sizes (
    day      date not null,
    part     text not null,
    noted_at timestamptz not null,
    bytes    bigint not null,
    constraint sizes_pkey PRIMARY KEY (day, part),
    constraint sizes_bytes_check CHECK (bytes >= 0)
);

-- Every kind of channel that the program knows. Filled by `headwater db migrate`.
create table channel_kinds (
    kind text not null,
    constraint channel_kinds_pkey PRIMARY KEY (kind)
);

create table change_counter (
    is_only         boolean not null default true,
    position        bigint not null default 0,  -- The last position of the log.
    moved_at        timestamptz not null default '-infinity'::timestamptz,  -- The time of the last move: times of the log never go back, so that days follow positions.
    oldest_position bigint not null default 1,  -- A reader that stands before the one below this has missed changes.
    constraint change_counter_pkey PRIMARY KEY (is_only),
    constraint change_counter_is_only_check CHECK (is_only)
);

create table changes (
    position   bigint not null,
    at         timestamptz not null,  -- When it was moved here; changed_at is when the archive changed.
    kind       text not null,
    bucket     smallint not null,
    hash       bytea not null,
    version    integer not null,
    op         text not null,
    changed_at timestamptz not null,
    constraint changes_kind_check CHECK (kind = ANY (ARRAY['document'::text, 'job'::text])),
    constraint changes_op_check CHECK (op = ANY (ARRAY['upsert'::text, 'delete'::text]))
) partition by range (at);
CREATE INDEX changes_by_key ON ONLY changes USING btree (hash);
CREATE INDEX changes_by_position ON ONLY changes USING btree ("position");

create table changes_default partition of changes default;
CREATE INDEX changes_default_at ON changes_default USING btree (at);

-- Not an SQL view: a filter that sinks deliver, feeds show and searches use.
create table views (
    id          uuid not null default gen_random_uuid(),
    name        text not null,
    query       text not null default ''::text,
    kinds       text[] not null default '{}'::text[],
    source_ids  uuid[] not null default '{}'::uuid[],
    tags        text[] not null default '{}'::text[],  -- Of the source; any of them is enough.
    languages   text[] not null default '{}'::text[],
    countries   text[] not null default '{}'::text[],  -- ISO 3166 codes of two letters: of the vacancy, or of the source of a document.
    min_quality smallint,
    created_at  timestamptz not null default now(),
    updated_at  timestamptz not null default now(),
    rights      text[] not null default '{}'::text[],  -- All of them must hold: train=allowed.
    constraint views_pkey PRIMARY KEY (id),
    constraint views_name_key UNIQUE (name),
    constraint views_kinds_check CHECK (kinds <@ ARRAY['document'::text, 'job'::text]),
    constraint views_min_quality_check CHECK (min_quality >= 0 AND min_quality <= 100),
    constraint views_name_check CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'::text)
);

create table sinks (
    id              uuid not null default gen_random_uuid(),
    name            text not null,
    type            text not null,
    options         jsonb not null default '{}'::jsonb,
    view_id         uuid,
    state           text not null default 'active'::text,
    state_reason    text,
    set_by          text,  -- The setting that made it; it follows that setting at each start. Null: a person made it.
    position        bigint not null,
    batch_number    bigint not null default 0,  -- Taken before the records of a batch are read: later batches have later ones, in microseconds of the clock.
    owner           text,
    token           uuid,
    leased_until    timestamptz not null default '-infinity'::timestamptz,
    is_handed_over  boolean not null default true,  -- False while it is worked: its last holder may have died with a request under way.
    failures        integer not null default 0,  -- Failures of the whole sink in a row.
    retry_at        timestamptz not null default '-infinity'::timestamptz,
    looked_at       timestamptz,  -- When it was last taken up: every few minutes, also while there is nothing to send.
    last_success_at timestamptz,
    last_error      text,
    last_error_at   timestamptz,
    sent            bigint not null default 0,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    constraint sinks_pkey PRIMARY KEY (id),
    constraint sinks_name_key UNIQUE (name),
    constraint sinks_view_id_fkey FOREIGN KEY (view_id) REFERENCES views(id),
    constraint sinks_name_check CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'::text),
    constraint sinks_state_check CHECK (state = ANY (ARRAY['active'::text, 'paused'::text, 'disabled'::text]))
) with (fillfactor=50);

create table delivered (
    sink_id      uuid not null,
    kind         text not null,
    bucket       smallint not null,
    hash         bytea not null,
    version      integer not null,
    batch_number bigint not null,
    place        text not null,  -- Where in the sink it lies, such as the name of an index.
    at           timestamptz not null,
    constraint delivered_pkey PRIMARY KEY (sink_id, kind, bucket, hash),
    constraint delivered_sink_id_fkey FOREIGN KEY (sink_id) REFERENCES sinks(id) ON DELETE CASCADE
) with (fillfactor=85);
CREATE INDEX delivered_by_key ON delivered USING btree (hash);
CREATE INDEX delivered_by_place ON delivered USING btree (sink_id, place);

create table delivery_failures (
    sink_id         uuid not null,
    kind            text not null,
    bucket          smallint not null,
    hash            bytea not null,
    position        bigint not null,
    version         integer not null,
    attempts        integer not null,
    next_try_at     timestamptz,
    error           text not null,
    failed_at       timestamptz not null,
    is_from_archive boolean not null,
    constraint delivery_failures_pkey PRIMARY KEY (sink_id, kind, bucket, hash),
    constraint delivery_failures_sink_id_fkey FOREIGN KEY (sink_id) REFERENCES sinks(id) ON DELETE CASCADE
);
CREATE INDEX delivery_failures_by_key ON delivery_failures USING btree (hash);
CREATE INDEX delivery_failures_due ON delivery_failures USING btree (sink_id, next_try_at, "position");

create table backfills (
    number    bigint not null generated always as identity,
    sink_id   uuid not null,
    source_id uuid,
    reason    text not null,
    kind      text not null default 'document'::text,
    at        timestamptz,
    bucket    smallint not null default '-1'::integer,
    hash      bytea not null default '\x'::bytea,  -- With kind, bucket and, for one source, its time: the last key that was looked at.
    done      bigint not null default 0,
    asked_at  timestamptz not null default now(),
    constraint backfills_pkey PRIMARY KEY (number),
    constraint backfills_sink_id_source_id_key UNIQUE NULLS NOT DISTINCT (sink_id, source_id),
    constraint backfills_sink_id_fkey FOREIGN KEY (sink_id) REFERENCES sinks(id) ON DELETE CASCADE
);

-- Long work that was asked for through the API, and how far it is.
create table operations (
    id         uuid not null,
    kind       text not null,
    state      text not null default 'running'::text,
    actor      text not null,
    done       bigint not null default 0,
    total      bigint,
    result     jsonb,
    problem    jsonb,
    created_at timestamptz not null default now(),
    beat_at    timestamptz not null default now(),  -- Written every few seconds by the process that works on it: one that is old was left by a dead one.
    ended_at   timestamptz,
    constraint operations_pkey PRIMARY KEY (id),
    constraint operations_state_check CHECK (state = ANY (ARRAY['running'::text, 'done'::text, 'failed'::text, 'interrupted'::text]))
);
CREATE INDEX operations_by_time ON operations USING btree (created_at DESC, id DESC);

-- Answers to requests with an Idempotency-Key, kept for a day.
create table kept_answers (
    caller   text not null,
    key      text not null,
    request  bytea not null,  -- Hash of method, path and body: a key belongs to one request.
    began_at timestamptz not null default now(),
    status   smallint,  -- Empty while the request is under way.
    body     bytea,
    constraint kept_answers_pkey PRIMARY KEY (caller, key)
);
CREATE INDEX kept_answers_by_time ON kept_answers USING btree (began_at);

-- People who log in to the web role.
create table web_users (
    name                text not null,
    role                text not null,
    password_hash       text not null,  -- Argon2id, with its salt and parameters.
    is_disabled         boolean not null default false,
    created_by          text not null,
    created_at          timestamptz not null default now(),
    password_changed_at timestamptz not null default now(),
    last_login_at       timestamptz,
    constraint web_users_pkey PRIMARY KEY (name),
    constraint web_users_name_check CHECK (name ~ '^[a-z0-9][a-z0-9._@-]{0,62}$'::text),
    constraint web_users_role_check CHECK (role = ANY (ARRAY['viewer'::text, 'operator'::text, 'admin'::text]))
);
CREATE INDEX web_users_admins ON web_users USING btree (name) WHERE role = 'admin'::text AND NOT is_disabled;

create table web_tokens (
    id           uuid not null,
    name         text not null,
    hash         bytea not null,  -- SHA-256 of the token; the token itself is shown once and stands nowhere.
    prefix       text not null,  -- Its first letters, by which a person knows it again.
    role         text not null,
    created_by   text not null,
    created_at   timestamptz not null default now(),
    expires_at   timestamptz,
    last_used_at timestamptz,
    revoked_at   timestamptz,
    constraint web_tokens_pkey PRIMARY KEY (id),
    constraint web_tokens_hash_key UNIQUE (hash),
    constraint web_tokens_name_check CHECK (name ~ '^[a-z0-9][a-z0-9._@-]{0,62}$'::text),
    constraint web_tokens_role_check CHECK (role = ANY (ARRAY['viewer'::text, 'operator'::text, 'admin'::text]))
);
CREATE UNIQUE INDEX web_tokens_by_name ON web_tokens USING btree (name) WHERE revoked_at IS NULL;
CREATE INDEX web_tokens_by_time ON web_tokens USING btree (created_at DESC, id DESC);

create table web_sessions (
    hash         bytea not null,  -- SHA-256 of the value of the cookie.
    user_name    text not null,
    address      text not null,
    created_at   timestamptz not null default now(),
    last_seen_at timestamptz not null default now(),  -- Written at most once a minute.
    expires_at   timestamptz not null,
    constraint web_sessions_pkey PRIMARY KEY (hash),
    constraint web_sessions_user_name_fkey FOREIGN KEY (user_name) REFERENCES web_users(name) ON DELETE CASCADE
);
CREATE INDEX web_sessions_by_end ON web_sessions USING btree (expires_at);
CREATE INDEX web_sessions_by_user ON web_sessions USING btree (user_name, created_at DESC);

create table login_attempts (
    subject       text not null,  -- An address, or the hash of a name: people type passwords where names belong.
    failures      integer not null,
    failed_at     timestamptz not null default now(),
    blocked_until timestamptz not null,
    told_until    timestamptz,  -- The end of the wait that was last written into the audit log.
    constraint login_attempts_pkey PRIMARY KEY (subject)
);
CREATE INDEX login_attempts_by_time ON login_attempts USING btree (failed_at);

-- No line is changed, and none of the last day is removed.
create table audit_log (
    id         bigint not null generated always as identity,
    at         timestamptz not null default now(),
    actor      text not null,
    role       text,
    proof      text not null,  -- How the actor showed who it is: a token, a session, a proxy, the command line.
    action     text not null,  -- The operation of the API, such as add_view.
    target     text not null,
    status     smallint not null,
    request_id text not null,
    address    text not null,
    details    jsonb not null default '{}'::jsonb,  -- What was asked for, cut and without secrets.
    constraint audit_log_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_log_by_action ON audit_log USING btree (action, at DESC, id DESC);
CREATE INDEX audit_log_by_actor ON audit_log USING btree (actor, at DESC, id DESC);
CREATE INDEX audit_log_by_both ON audit_log USING btree (actor, action, at DESC, id DESC);
CREATE INDEX audit_log_by_time ON audit_log USING btree (at DESC, id DESC);
CREATE TRIGGER keep_rows BEFORE DELETE OR UPDATE ON audit_log FOR EACH ROW EXECUTE FUNCTION keep_audit_log();
CREATE TRIGGER keep_table BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_log();

create table rollup_minutes (
    figure text not null,
    minute timestamptz not null,
    label  text not null,
    count  bigint not null,
    constraint rollup_minutes_pkey PRIMARY KEY (figure, minute, label)
) with (fillfactor=80);
CREATE INDEX rollup_minutes_old ON rollup_minutes USING btree (minute);

create table rollup_hours (
    figure text not null,
    hour   timestamptz not null,
    label  text not null,
    count  bigint not null,
    constraint rollup_hours_pkey PRIMARY KEY (figure, hour, label)
) with (fillfactor=80);
CREATE INDEX rollup_hours_old ON rollup_hours USING btree (hour);

create table rollup_totals (
    figure text not null,
    label  text not null,
    count  bigint not null,
    constraint rollup_totals_pkey PRIMARY KEY (figure, label)
) with (fillfactor=50);

create table rollup_mark (
    only_row             boolean not null default true,
    rolled_until         timestamptz not null,  -- Minutes up to then were counted; the last ones are counted again, for rows that come late.
    sources_rolled_until timestamptz not null,  -- A whole hour: source_days has all hours before it.
    database_bytes       bigint not null default 0,
    constraint rollup_mark_pkey PRIMARY KEY (only_row),
    constraint rollup_mark_only_row_check CHECK (only_row)
);

create table figure_totals (
    figure text not null,
    count  bigint not null,
    constraint figure_totals_pkey PRIMARY KEY (figure)
) with (fillfactor=50);

create table source_days (
    source_id uuid not null,
    day       date not null,
    items     integer[] not null,
    polls     smallint[] not null,
    errors    smallint[] not null,
    constraint source_days_pkey PRIMARY KEY (source_id, day)
) with (fillfactor=80);
CREATE INDEX source_days_old ON source_days USING brin (day);

create table health_marks (
    part  text not null,
    since timestamptz not null default now(),
    constraint health_marks_pkey PRIMARY KEY (part)
);

create table tdmrep (
    bucket     smallint not null,
    host       text not null,
    scheme     text not null,
    port       integer not null,
    rules      jsonb not null,  -- Location, reservation and policy of each, in order; empty: it has none, which is kept as well.
    fetched_at timestamptz not null,
    expires_at timestamptz not null,
    constraint tdmrep_pkey PRIMARY KEY (bucket, host, scheme, port),
    constraint tdmrep_port_check CHECK (port >= 1 AND port <= 65535),
    constraint tdmrep_scheme_check CHECK (scheme = ANY (ARRAY['http'::text, 'https'::text]))
);
CREATE INDEX tdmrep_by_age ON tdmrep USING btree (expires_at);

-- A row while nothing may be polled or fetched.
create table crawl_pause (
    only_row boolean not null default true,
    since    timestamptz not null default now(),
    set_by   text not null,
    reason   text not null default ''::text,
    constraint crawl_pause_pkey PRIMARY KEY (only_row),
    constraint crawl_pause_only_row_check CHECK (only_row),
    constraint crawl_pause_reason_check CHECK (length(reason) <= 500)
);

-- Asked for by strangers on the page for site owners: a person decides.
create table takedown_requests (
    id         uuid not null,
    place      text not null,
    contact    text not null,
    reason     text not null,
    asker      text not null,  -- The network address that sent it, shortened: for the limits alone.
    asked_at   timestamptz not null default now(),
    decided_at timestamptz,
    decided_by text,
    is_granted boolean,
    constraint takedown_requests_pkey PRIMARY KEY (id),
    constraint takedown_requests_check CHECK ((decided_at IS NULL) = (is_granted IS NULL)),
    constraint takedown_requests_contact_check CHECK (length(contact) <= 320),
    constraint takedown_requests_place_check CHECK (length(place) <= 2083),
    constraint takedown_requests_reason_check CHECK (length(reason) <= 2000)
);
CREATE INDEX takedown_requests_asked ON takedown_requests USING btree (asker, asked_at);
CREATE INDEX takedown_requests_open ON takedown_requests USING btree (asked_at, id) WHERE decided_at IS NULL;

create table subscriptions (
    channel_id   uuid not null,
    protocol     text not null,
    hub          text not null,
    hub_host     text not null,
    topic        text not null,  -- The address that is subscribed to: what the channel calls itself, else where it is.
    state        text not null default 'wanted'::text,
    reason       text,  -- Why it is denied or failed, in the words of the hub or ours.
    failures     smallint not null default 0,
    due_at       timestamptz not null default now(),  -- When it is asked for, or renewed.
    since        timestamptz,  -- When it was first verified, without a lapse since.
    lease_until  timestamptz,
    proofs       integer not null default 0,
    needed       integer not null default 3,
    pushes       integer not null default 0,  -- Those that brought something new.
    missed       integer not null default 0,  -- Items that came late, or that polls found first.
    last_push_at timestamptz,
    pinged_at    timestamptz,  -- The hub said that there is something, and no poll has looked since.
    quiet_until  timestamptz,  -- A trusted hub that pushes nothing until then is looked after by a poll.
    created_at   timestamptz not null default now(),
    constraint subscriptions_pkey PRIMARY KEY (channel_id),
    constraint subscriptions_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels(id) ON DELETE CASCADE,
    constraint subscriptions_hub_check CHECK (length(hub) <= 2083),
    constraint subscriptions_protocol_check CHECK (protocol = ANY (ARRAY['websub'::text, 'rsscloud'::text])),
    constraint subscriptions_state_check CHECK (state = ANY (ARRAY['wanted'::text, 'pending'::text, 'active'::text, 'denied'::text, 'failed'::text])),
    constraint subscriptions_topic_check CHECK (length(topic) <= 2083)
) with (fillfactor=80);
CREATE INDEX subscriptions_due ON subscriptions USING btree (due_at);
CREATE INDEX subscriptions_leased ON subscriptions USING btree (lease_until) WHERE state = 'active'::text;
CREATE INDEX subscriptions_of_hub ON subscriptions USING btree (hub_host, due_at);
CREATE INDEX subscriptions_pushed ON subscriptions USING btree (last_push_at) WHERE last_push_at IS NOT NULL;
CREATE INDEX subscriptions_quiet ON subscriptions USING btree (quiet_until) WHERE quiet_until IS NOT NULL;

create table callbacks (
    token       text not null,
    channel_id  uuid not null,
    secret      text not null,  -- What the hub signs with. It is told to the hub, and shown to nobody.
    hub         text not null,
    topic       text not null,
    asked_at    timestamptz not null default clock_timestamp(),
    verified_at timestamptz,  -- Null: asked for, and to be confirmed by the hub.
    constraint callbacks_pkey PRIMARY KEY (token),
    constraint callbacks_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES subscriptions(channel_id) ON DELETE CASCADE,
    constraint callbacks_secret_check CHECK (length(secret) < 200),
    constraint callbacks_token_check CHECK (length(token) >= 40)
);
CREATE INDEX callbacks_of_channel ON callbacks USING btree (channel_id);

create table pushes (
    id           bigint not null generated always as identity,
    channel_id   uuid not null,
    received_at  timestamptz not null default clock_timestamp(),
    due_at       timestamptz not null default clock_timestamp(),  -- Its channel was busy until then.
    content_type text not null default ''::text,
    body         bytea,
    attempts     smallint not null default 0,
    constraint pushes_pkey PRIMARY KEY (id),
    constraint pushes_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels(id) ON DELETE CASCADE
);
CREATE INDEX pushes_due ON pushes USING btree (due_at);
CREATE INDEX pushes_of_channel ON pushes USING btree (channel_id);

create table source_delays (
    source_id uuid not null,
    day       date not null,
    counts    integer[] not null,
    constraint source_delays_pkey PRIMARY KEY (source_id, day)
) with (fillfactor=70);
CREATE INDEX source_delays_old ON source_delays USING brin (day);

create table crowded_hosts (
    bucket              smallint not null,
    host                text not null,
    seen_at             timestamptz not null,
    channels            integer,
    deserved_per_hour   real,  -- Polls, if each of its channels were polled at the interval of its own.
    possible_per_hour   real,  -- Polls that its delay leaves room for.
    judged_at           timestamptz,
    queue_ends_at       timestamptz,  -- The last turn that was given to a channel.
    first_queue_ends_at timestamptz,  -- The same of channels that were never polled.
    crowding            real not null default 1,  -- By so much the intervals of its channels are lengthened, so that all have their turns.
    constraint crowded_hosts_pkey PRIMARY KEY (bucket, host)
);

-- Rules of robots.txt that are not in force any more, for as long as the fetch log tells what was requested under them.
create table former_robots (
    bucket smallint not null,
    host   text not null,
    scheme text not null,
    port   integer not null,
    body   bytea,  -- Null: there was no file, and all was allowed.
    until  timestamptz not null
);
CREATE INDEX former_robots_by_time ON former_robots USING btree (until);
CREATE INDEX former_robots_of_host ON former_robots USING btree (bucket, host);

-- Whether the columns that PostgreSQL searches are kept: documents.search, jobs.search_tsv.
create table search_column (
    is_only    boolean not null default true,
    state      text not null default 'kept'::text,  -- Columns are written while kept or filling; PostgreSQL answers searches while kept.
    kind       text not null default ''::text,
    bucket     smallint not null default '-1'::integer,
    hash       bytea not null default '\x'::bytea,
    done       bigint not null default 0,  -- Rows that were looked at since the state began.
    changed_at timestamptz not null default now(),
    constraint search_column_pkey PRIMARY KEY (is_only),
    constraint search_column_is_only_check CHECK (is_only),
    constraint search_column_kind_check CHECK (kind = ANY (ARRAY[''::text, 'document'::text, 'job'::text])),
    constraint search_column_state_check CHECK (state = ANY (ARRAY['kept'::text, 'emptying'::text, 'away'::text, 'filling'::text]))
);

-- Bodies outside that nothing refers to any more; a row goes when its body is gone.
create table body_removals (
    stored_in text not null,
    object_id uuid not null,
    noted_at  timestamptz not null default now(),
    constraint body_removals_pkey PRIMARY KEY (stored_in, object_id),
    constraint body_removals_stored_in_check CHECK (stored_in = ANY (ARRAY['folder'::text, 's3'::text]))
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

-- How far the search for bodies that nothing refers to has got; ended_at: when it was through last.
create table body_sweeps (
    stored_in text not null,
    after     uuid,
    ended_at  timestamptz,
    constraint body_sweeps_pkey PRIMARY KEY (stored_in),
    constraint body_sweeps_stored_in_check CHECK (stored_in = ANY (ARRAY['folder'::text, 's3'::text]))
);

-- Lines of the log from warning on, of all processes: the newest 20,000, a day long.
create table process_lines (
    id         bigint not null generated always as identity,
    at         timestamptz not null,  -- By the clock of the machine.
    process_id uuid not null,
    role       text not null,
    host       text not null,
    pid        integer not null,
    level      text not null,
    event      text not null,
    fields     jsonb not null default '{}'::jsonb,
    constraint process_lines_pkey PRIMARY KEY (id)
);

create view takedown_watchers as
 SELECT virtualtransaction AS transaction
   FROM pg_locks
  WHERE locktype = 'advisory'::text AND database = (( SELECT pg_database.oid
           FROM pg_database
          WHERE pg_database.datname = current_database())) AND classid = 'takedowns'::regclass::oid AND objid = 0::oid AND objsubid = 2 AND granted;

create view search_languages as
 SELECT column1 AS language,
    column2 AS config
   FROM (VALUES ('ar'::text,'arabic'::regconfig), ('ca'::text,'catalan'::regconfig), ('da'::text,'danish'::regconfig), ('de'::text,'german'::regconfig), ('el'::text,'greek'::regconfig), ('en'::text,'english'::regconfig), ('es'::text,'spanish'::regconfig), ('eu'::text,'basque'::regconfig), ('fi'::text,'finnish'::regconfig), ('fr'::text,'french'::regconfig), ('ga'::text,'irish'::regconfig), ('hi'::text,'hindi'::regconfig), ('hu'::text,'hungarian'::regconfig), ('hy'::text,'armenian'::regconfig), ('id'::text,'indonesian'::regconfig), ('it'::text,'italian'::regconfig), ('lt'::text,'lithuanian'::regconfig), ('nb'::text,'norwegian'::regconfig), ('ne'::text,'nepali'::regconfig), ('nl'::text,'dutch'::regconfig), ('nn'::text,'norwegian'::regconfig), ('no'::text,'norwegian'::regconfig), ('pt'::text,'portuguese'::regconfig), ('ro'::text,'romanian'::regconfig), ('ru'::text,'russian'::regconfig), ('sr'::text,'serbian'::regconfig), ('sv'::text,'swedish'::regconfig), ('ta'::text,'tamil'::regconfig), ('tr'::text,'turkish'::regconfig), ('yi'::text,'yiddish'::regconfig)) "*VALUES*";

create view crawl_sources as
 SELECT s.id,
    s.name AS org_name,
    s.url AS careers_url,
        CASE first.kind
            WHEN 'feed'::text THEN 'rss'::text
            WHEN 'api'::text THEN 'api'::text
            ELSE 'html'::text
        END AS source_type,
    s.org_type,
    s.status,
    s.status_reason,
    COALESCE(s.crawl_frequency_days,
        CASE lower(s.org_type)
            WHEN 'un'::text THEN 1
            WHEN 'ingo'::text THEN 2
            WHEN 'academic'::text THEN 7
            ELSE 3
        END::real) AS crawl_frequency_days,
    ( SELECT min(c.next_poll_at) AS min
           FROM channels c
          WHERE c.source_id = s.id AND c.is_active) AS next_run_at,
    s.last_run_at AS last_crawled_at,
    s.last_run_status AS last_crawl_status,
    s.last_run_message AS last_crawl_message,
    s.consecutive_failures,
    COALESCE(first.nochange_count, 0) AS consecutive_nochange,
    s.parser_hint,
    s.time_window,
    s.created_at,
    s.updated_at
   FROM sources s
     LEFT JOIN LATERAL ( SELECT c.kind,
            c.nochange_count
           FROM channels c
          WHERE c.source_id = s.id
          ORDER BY c.is_enabled DESC, (c.kind = 'search'::text), c.created_at, c.id
         LIMIT 1) first ON true
  WHERE s.url_hash IS NOT NULL;
CREATE TRIGGER only_for_reading INSTEAD OF INSERT OR DELETE OR UPDATE ON crawl_sources FOR EACH ROW EXECUTE FUNCTION refuse_write();

create view feed_state as
 SELECT DISTINCT ON (source_id) source_id,
    url AS feed_url,
    last_polled_at,
    etag AS last_etag,
    last_modified,
    last_item_count,
    consecutive_errors,
    last_error,
    created_at,
    updated_at
   FROM channels
  WHERE kind = 'feed'::text
  ORDER BY source_id, is_enabled DESC, created_at;
CREATE TRIGGER only_for_reading INSTEAD OF INSERT OR DELETE OR UPDATE ON feed_state FOR EACH ROW EXECUTE FUNCTION refuse_write();

create view crawl_locks as
 SELECT DISTINCT ON (source_id) source_id,
    lease_until,
    leased_by,
    leased_at AS locked_at
   FROM channels
  WHERE token IS NOT NULL AND lease_until > now()
  ORDER BY source_id, lease_until DESC;
CREATE TRIGGER only_for_reading INSTEAD OF INSERT OR DELETE OR UPDATE ON crawl_locks FOR EACH ROW EXECUTE FUNCTION refuse_write();

create view crawl_logs as
 SELECT id,
    source_id,
    at AS ran_at,
    duration_ms,
    found,
    inserted,
    updated,
    skipped,
    status,
    message
   FROM runs;
CREATE TRIGGER only_for_reading INSTEAD OF INSERT OR DELETE OR UPDATE ON crawl_logs FOR EACH ROW EXECUTE FUNCTION refuse_write();

create view job_executions as
 SELECT id,
    channel_id AS job_id,
    source_id,
    status,
    at - make_interval(secs => (duration_ms::numeric / 1000.0)::double precision) AS started_at,
    at AS completed_at,
    duration_ms,
    found AS items_found,
    inserted AS items_inserted,
    message AS error_message
   FROM runs;
CREATE TRIGGER only_for_reading INSTEAD OF INSERT OR DELETE OR UPDATE ON job_executions FOR EACH ROW EXECUTE FUNCTION refuse_write();

create view robots_cache as
 SELECT DISTINCT ON (bucket, host) host,
    text_from(body) AS robots_txt,
    fetched_at,
    crawl_delay_ms,
    disallow,
    access,
    http_status,
    expires_at
   FROM robots
  ORDER BY bucket, host, scheme DESC, (port = ANY (ARRAY[80, 443])) DESC, port;
CREATE TRIGGER only_for_reading INSTEAD OF INSERT OR DELETE OR UPDATE ON robots_cache FOR EACH ROW EXECUTE FUNCTION refuse_write();

create view host_state as
 SELECT h.host,
    h.last_fetch_at,
    GREATEST(h.delay_ms, h.penalty_ms) AS min_delay_ms,
    r.robots_txt,
    r.robots_fetched_at,
        CASE
            WHEN p.serves_jobs THEN 12
            ELSE 24
        END AS robots_ttl_hours,
    h.created_at,
    GREATEST(h.created_at, h.last_fetch_at, p.updated_at, r.robots_fetched_at) AS updated_at,
    h.in_flight,
    h.closed_until,
    h.wake_at
   FROM hosts h
     LEFT JOIN host_policies p ON p.bucket = h.bucket AND p.host = h.host
     LEFT JOIN LATERAL ( SELECT text_from(o.body) AS robots_txt,
            o.fetched_at AS robots_fetched_at
           FROM robots o
          WHERE o.bucket = h.bucket AND o.host = h.host
          ORDER BY o.scheme DESC, (o.port = ANY (ARRAY[80, 443])) DESC, o.port
         LIMIT 1) r ON true;
CREATE TRIGGER only_for_reading INSTEAD OF INSERT OR DELETE OR UPDATE ON host_state FOR EACH ROW EXECUTE FUNCTION refuse_write();

create view domain_policies as
 SELECT h.host,
    COALESCE(p.max_concurrency, 1::smallint) AS max_concurrency,
    COALESCE(p.min_request_interval_ms,
        CASE
            WHEN p.is_unpaced THEN 0
            ELSE h.base_delay_ms
        END) AS min_request_interval_ms,
    COALESCE(p.max_pages, 10) AS max_pages,
    COALESCE(p.max_kb_per_page,
        CASE
            WHEN p.serves_jobs THEN 1024
            ELSE 10240
        END) AS max_kb_per_page,
    COALESCE(p.allow_js, false) AS allow_js,
    s.last_status AS last_seen_status,
    COALESCE(p.updated_at, h.created_at) AS updated_at
   FROM hosts h
     LEFT JOIN host_policies p ON p.bucket = h.bucket AND p.host = h.host
     LEFT JOIN host_statistics s ON s.bucket = h.bucket AND s.host = h.host;
CREATE TRIGGER only_for_reading INSTEAD OF INSERT OR DELETE OR UPDATE ON domain_policies FOR EACH ROW EXECUTE FUNCTION refuse_write();

create view source_pages as
 SELECT entry_id(e.bucket, e.url_hash) AS id,
    d.source_id,
    e.url,
    page_status(e.status) AS status,
    d.depth,
    COALESCE(e.reason, e.last_error) AS error,
    e.created_at,
    e.updated_at
   FROM discoveries d
     JOIN url_frontier e USING (bucket, url_hash);
CREATE TRIGGER only_for_reading INSTEAD OF INSERT OR DELETE OR UPDATE ON source_pages FOR EACH ROW EXECUTE FUNCTION refuse_write();

create view source_profiles as
 SELECT id,
    url,
    url_hash,
    name,
    kind,
    priority,
    tags,
    org_type,
    timezone,
    country,
    ingestion_mode,
    policy,
    poll_every,
    crawl_frequency_days,
    time_window,
    max_depth,
    max_pages,
    allowed_domains,
    include_paths,
    exclude_paths,
    allow_external,
    start_urls,
    article_patterns,
    selectors,
    parser_hint,
    rate_limit_ms,
    revisit_every,
    status,
    status_reason,
    consecutive_failures,
    last_run_at,
    last_run_status,
    last_run_message,
    created_at,
    updated_at,
    speaks_for,
    skips_tdmrep
   FROM sources
  WHERE url_hash IS NOT NULL;
CREATE TRIGGER only_for_reading INSTEAD OF INSERT OR DELETE OR UPDATE ON source_profiles FOR EACH ROW EXECUTE FUNCTION refuse_write();

function apply_host_policies(p_buckets smallint[], p_hosts text[], p_now timestamptz) returns void volatile set enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off;
function apply_host_policy(p_bucket smallint, p_host text, p_default_delay_ms integer, p_now timestamptz DEFAULT NULL::timestamptz) returns void volatile;
function began_at(granted timestamptz, duration_ms integer, p_now timestamptz) returns timestamptz immutable;
function believed_original(n new_document, p_simhash bigint) returns document_key stable set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function bits_apart(p_one bigint, p_other bigint) returns integer immutable;
function capacity_of(max_concurrency smallint, bad_in_a_row smallint) returns smallint immutable;
function change_entries(p_buckets smallint[], p_hashes bytea[], p_from text[], p_status text, p_reason text, p_held text, p_now timestamptz DEFAULT NULL::timestamptz, p_error text DEFAULT NULL::text) returns integer volatile set enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off;
function charge_slots(p_bucket smallint, p_token uuid, p_count integer, p_margin interval, p_started_at timestamptz, p_duration_ms integer, p_status smallint, p_body_bytes bigint, p_past_kind text, p_sent_from text, p_now timestamptz DEFAULT NULL::timestamptz, OUT granted_at timestamptz, OUT lasts interval, OUT not_before interval, OUT why text) returns record volatile;
function claim_channels(p_owner text, p_limit integer, p_lease interval, p_now timestamptz DEFAULT NULL::timestamptz, p_jobs_pool integer DEFAULT NULL::integer, p_jobs_batch integer DEFAULT NULL::integer, p_jobs_every interval DEFAULT NULL::interval, p_marks timestamptz[] DEFAULT NULL::timestamptz[], p_first integer DEFAULT 0) returns TABLE(id uuid, marks timestamptz[], wait interval) volatile set plan_cache_mode=force_generic_plan, enable_bitmapscan=off, enable_seqscan=off;
function claim_entries(p_owner text, p_limit integer, p_lease interval, p_bucket smallint DEFAULT NULL::smallint, p_marks timestamptz[] DEFAULT NULL::timestamptz[], p_now timestamptz DEFAULT NULL::timestamptz, p_doubted integer DEFAULT NULL::integer, p_doubted_first integer DEFAULT 0, p_domains text[] DEFAULT '{}'::text[], p_sources uuid[] DEFAULT '{}'::uuid[]) returns TABLE(token uuid, bucket smallint, url_hash bytea, host text, url text, source_id uuid, origin text, depth smallint, priority smallint, retry_count smallint, fetch_count integer, hops smallint, resume_url text, etag text, last_modified text, content_hash bytea, is_alone boolean, wait interval, marks timestamptz[], domain text, found_by uuid, is_doubted boolean) volatile set plan_cache_mode=force_generic_plan, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, enable_bitmapscan=off, enable_sort=on;
function claim_left(e url_frontier, p_is_removed boolean, p_found_by text) returns smallint immutable;
function claim_suspect(p_owner text, p_lease interval, p_now timestamptz DEFAULT NULL::timestamptz) returns TABLE(token uuid, bucket smallint, url_hash bytea, host text, url text, source_id uuid, origin text, depth smallint, priority smallint, retry_count smallint, fetch_count integer, hops smallint, resume_url text, etag text, last_modified text, content_hash bytea, is_alone boolean, wait interval, marks timestamptz[], domain text, found_by uuid, is_doubted boolean) volatile set enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off;
function claimants_of(p_bucket smallint, p_url_hash bytea) returns TABLE(bucket smallint, url_hash bytea, content_hash bytea, simhash bigint, since timestamptz, is_believed boolean) stable set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function close_host(p_bucket smallint, p_host text, p_reason text, p_until timestamptz, p_now timestamptz DEFAULT NULL::timestamptz) returns void volatile;
function config_mark(p_config regconfig) returns text stable;
function count_channel_changed() returns trigger volatile;  -- (migration)
function count_channels_added() returns trigger volatile;  -- (migration)
function count_channels_removed() returns trigger volatile;  -- (migration)
function count_source_changed() returns trigger volatile;  -- (migration)
function count_sources_added() returns trigger volatile;  -- (migration)
function count_sources_removed() returns trigger volatile;  -- (migration)
function crown_heir(p_one document_key, p_content bytea, p_now timestamptz) returns void volatile set plan_cache_mode=force_generic_plan, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, enable_incremental_sort=off;
function discard_bodies(p_stored_in text, p_ids uuid[]) returns integer volatile;
function document_words(p_language text, p_title text, p_summary text, p_keywords text[], p_author text, p_text text) returns tsvector stable;
function domains_above(p_host text) returns text[] immutable;
function ended_by_takedown(s settlement) returns settlement immutable;
function ensure_days(p_table text, p_from date, p_days integer, p_most integer DEFAULT 10000) returns integer volatile set lock_timeout=3s;
function ensure_hosts(p_buckets smallint[], p_hosts text[], p_delay_ms integer, p_domains text[] DEFAULT NULL::text[]) returns void volatile;
function entry_id(bucket smallint, url_hash bytea) returns uuid immutable;  -- (migration)
function error_class(p_error text) returns text immutable;
function expire_jobs_of_page(p_bucket smallint, p_url_hash bytea, p_now timestamptz) returns void volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function extend_leases(p_buckets smallint[], p_tokens uuid[], p_lease interval, p_now timestamptz DEFAULT NULL::timestamptz) returns uuid[] volatile set enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off;
function facet_values(p_facets text[], p_source_id uuid, p_url text, p_language text, p_page_type text, p_authors text[], p_told_at timestamptz) returns TABLE(facet text, value text) stable;
function farthest_slot(burst smallint, delay_ms integer, penalty_ms integer) returns interval immutable;
function find_place(p_one document_key, p_now timestamptz) returns void volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function follow_clock_ahead(p_bucket smallint, p_ahead interval, p_seen timestamptz, p_lease interval) returns void volatile;
function follow_clock_back(p_bucket smallint, p_back interval, p_lease interval, p_now timestamptz DEFAULT NULL::timestamptz) returns void volatile;
function follow_clock_back_in_channels(p_back interval, p_lease interval, p_now timestamptz DEFAULT NULL::timestamptz) returns void volatile;
function forget_in_default(p_table text, p_before timestamptz, p_limit integer) returns integer volatile;
function free_claimants(p_one document_key, p_content bytea, p_simhash bigint) returns document_key[] volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function gain_parts(n new_document, p_now timestamptz) returns integer volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function gather_claimants(n new_document, p_simhash bigint, p_original document_key, p_now timestamptz) returns void volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function grow_older(p_one document_key, p_since timestamptz, p_now timestamptz) returns void volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function hand_over_duplicates(p_one document_key, p_to document_key) returns void volatile set plan_cache_mode=force_generic_plan, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off;
function has_rights(p_said text[], p_wanted text[]) returns boolean immutable;
function has_suspect(p_owner text) returns boolean stable;
function hold_hosts(p_buckets smallint[], p_hosts text[], p_default_delay_ms integer, p_domains text[] DEFAULT NULL::text[]) returns void volatile;
function host_backwards(p_url text) returns text immutable;  -- (migration)
function is_claim(p_one document_key, p_other document_key) returns boolean stable set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function is_comparable(p_words integer) returns boolean immutable;
function is_in_view(v views, p_kind text, p_source_id uuid, p_tags text[], p_language text, p_country text, p_quality smallint, p_rights text[]) returns boolean immutable;
function is_one_text(p_content bytea, p_simhash bigint, p_other_content bytea, p_other_simhash bigint) returns boolean immutable;
function is_owner_alive(p_owner text, p_within interval) returns boolean volatile;
function is_same_story(p_first bigint, p_simhash bigint) returns boolean immutable;
function is_search_kept() returns boolean volatile;
function is_taken_down(p_keys text[]) returns boolean volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function job_words(p_language text, p_title text, p_org_name text, p_description text, p_missions text[], p_functions text[]) returns tsvector stable;
function keep_audit_log() returns trigger volatile;  -- (migration)
function keep_body(b new_body, p_now timestamptz) returns void volatile;
function keep_document(n new_document, p_now timestamptz, OUT outcome text, OUT version integer, OUT is_new boolean, OUT other_bucket smallint, OUT other_hash bytea) returns record volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function keep_outlinks(p_bucket smallint, p_url_hash bytea, p_targets bytea) returns void volatile;
function keep_page(p_settlement settlement, p_url_hash bytea, p_document new_document, p_outlinks bytea, p_body new_body, p_withdrawn_by text, p_keys text[], p_claimed text) returns boolean volatile;
function keep_version(p_one document_key, p_now timestamptz) returns void volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function legible(p_text text, p_most integer) returns text immutable;
function letter_pairs(p_text text) returns text immutable;
function likeness_piece(p_simhash bigint, p_piece integer) returns integer immutable;  -- (migration)
function lock_around(n new_document) returns boolean volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function lock_claims(p_hashes bytea[]) returns void volatile;
function lock_hashes(p_hashes bytea[]) returns void volatile;
function lock_hosts(p_buckets smallint[], p_hosts text[]) returns void volatile set plan_cache_mode=force_generic_plan, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off;
function lock_number(p_hash bytea) returns bigint immutable;
function look_at_hub() returns trigger volatile;  -- (migration)
function move_changes(p_most integer) returns integer volatile set plan_cache_mode=force_custom_plan;
function near_duplicate_of(p_told telling, p_simhash bigint) returns document_key stable set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function note_address_change() returns trigger volatile;  -- (migration)
function note_closure() returns trigger volatile;  -- (migration)
function note_removed_body() returns trigger volatile;  -- (migration)
function original_of(p_content bytea, p_but document_key) returns document_key stable set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function outlive_watchers(p_patience interval) returns boolean volatile;
function owner_key(p_owner text) returns bigint immutable;
function pace_hosts(p_buckets smallint[], p_hosts text[], p_delays integer[], p_waits interval[], p_now timestamptz DEFAULT NULL::timestamptz) returns void volatile set enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off;
function page_status(status text) returns text immutable;  -- (migration)
function place_document(p_one document_key, p_of document_key, p_is_believed boolean, p_now timestamptz) returns void volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function poll_turn(p_delay_ms integer, p_has_pages boolean) returns interval immutable;
function refresh_hosts(p_buckets smallint[], p_hosts text[], p_now timestamptz) returns void volatile set plan_cache_mode=force_generic_plan, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, enable_bitmapscan=off;
function refuse_write() returns trigger volatile;  -- (migration)
function regrant_slot(p_bucket smallint, p_token uuid, p_lease interval, p_reach interval, p_verdict text, p_status smallint, p_body_bytes bigint, p_started_after interval, p_duration_ms integer, p_past_kind text, p_sent_from text, p_slack interval, p_now timestamptz DEFAULT NULL::timestamptz, OUT wait interval, OUT is_alone boolean, OUT not_before interval, OUT why text) returns record volatile;
function rekey_document(p_bucket smallint, p_old bytea, p_new bytea, p_now timestamptz) returns void volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function rekey_entry(p_bucket smallint, p_old bytea, p_new bytea, p_now timestamptz) returns text volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function release_all_but(p_owner text, p_held uuid[], p_now timestamptz DEFAULT NULL::timestamptz) returns integer volatile set enable_hashjoin=off, enable_mergejoin=off;
function renew_parts(n new_document, p_now timestamptz) returns integer volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function rescue_expired(p_limit integer, p_now timestamptz DEFAULT NULL::timestamptz, p_lease interval DEFAULT NULL::interval) returns TABLE(rescued integer, suspected integer, poisoned integer) volatile set enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off;
function reserve_slot(p_bucket smallint, p_host text, p_kind text, p_owner text, p_lease interval, p_reach interval, p_default_delay_ms integer, p_slack interval, p_now timestamptz DEFAULT NULL::timestamptz, p_domain text DEFAULT NULL::text, OUT token uuid, OUT wait interval, OUT is_alone boolean, OUT not_before interval, OUT why text) returns record volatile;
function respell_document(n new_document, p_now timestamptz) returns integer volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function rest_after(bad_in_a_row integer) returns interval immutable;
function restate_rights(p_one document_key, p_rights text[], p_statements jsonb, p_now timestamptz) returns boolean volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function says_the_same(d documents, n new_document) returns boolean immutable;
function scolded_penalty(delay_ms integer, penalty_ms integer) returns integer immutable;
function search_config(p_language text) returns regconfig stable;
function search_vector(p_language text, p_a text, p_b text, p_c text, p_d text) returns tsvector stable;
function settle_requests(p_settlements settlement[], p_now timestamptz DEFAULT NULL::timestamptz) returns uuid[] volatile set plan_cache_mode=force_generic_plan, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, enable_bitmapscan=off;
function spacing_after(space interval, slack interval, max_concurrency smallint) returns interval immutable;
function spacing_of(delay_ms integer, penalty_ms integer) returns interval immutable;
function standing_of(p_status text, p_reason text) returns integer immutable;
function step_down(p_one document_key, p_for document_key, p_is_believed boolean, p_now timestamptz) returns void volatile;
function steps_back_of(rank bigint) returns smallint immutable;
function story_of(n new_document, p_simhash bigint, p_is_claimed boolean, p_now timestamptz, OUT told telling, OUT first bigint) returns record stable set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function strip_claim(p_bucket smallint, p_url_hash bytea) returns void volatile set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function submission_outcome(e url_frontier, i submission, p_source uuid, p_owner_rank smallint, p_now timestamptz) returns text stable;
function submit_urls(p_source uuid, p_channel uuid, p_items submission[], p_default_delay_ms integer, p_now timestamptz DEFAULT NULL::timestamptz, p_new_hosts integer DEFAULT NULL::integer) returns TABLE(place integer, outcome text) volatile set plan_cache_mode=force_generic_plan, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off;
function takedowns_over(p_domains text[]) returns TABLE(domain_or_url text, domain text, key_prefix text) volatile;
function telling_of(p_one document_key) returns telling stable set plan_cache_mode=force_generic_plan, enable_seqscan=off;
function tells_first(p_one telling, p_other telling) returns boolean immutable;
function text_from(p_body bytea) returns text immutable;  -- (migration)
function tombstone_documents(p_buckets smallint[], p_hashes bytea[], p_reason text, p_now timestamptz) returns integer volatile set plan_cache_mode=force_generic_plan, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off;
function until_channel_due(p_owner text, p_now timestamptz, p_marks timestamptz[]) returns interval stable set plan_cache_mode=force_generic_plan, enable_bitmapscan=off, enable_seqscan=off;
function url_host(p_url text) returns text immutable;  -- (migration)
function watch_takedowns() returns void volatile;
function withdraw_page(p_bucket smallint, p_url_hash bytea, p_reason text, p_now timestamptz) returns integer volatile;
function without_claim(n new_document) returns new_document immutable;
function words_asked(p_config regconfig, p_question text) returns tsquery stable;
function write_document(n new_document, p_simhash bigint, p_original document_key, p_is_believed boolean, p_near document_key, p_told_since timestamptz, p_told_first bigint, p_version integer, p_now timestamptz) returns void volatile set plan_cache_mode=force_generic_plan;
function write_source(p_id uuid, p_profile jsonb) returns uuid volatile;
