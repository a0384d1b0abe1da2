-- What the web role remembers between requests: long work that was asked for, and answers to repeated requests.

-- Work that takes longer than a request: an import, a comparison, pages read again.
create table operations (
    id         uuid primary key,
    kind       text not null,
    state      text not null default 'running' check (state in ('running', 'done', 'failed', 'interrupted')),
    actor      text not null,
    done       bigint not null default 0,
    total      bigint,
    result     jsonb,
    problem    jsonb,
    created_at timestamptz not null default now(),
    beat_at    timestamptz not null default now(),
    ended_at   timestamptz
);
comment on table operations is 'Long work that was asked for through the API, and how far it is.';
comment on column operations.beat_at is 'Written every few seconds by the process that works on it: one that is old was left by a dead one.';
create index operations_by_time on operations (created_at desc, id desc);

-- Answers to requests that carried an Idempotency-Key: the same request again gets the same answer.
create table kept_answers (
    caller     text not null,
    key        text not null,
    request    bytea not null,
    began_at   timestamptz not null default now(),
    status     smallint,
    body       bytea,
    primary key (caller, key)
);
comment on table kept_answers is 'Answers to requests with an Idempotency-Key, kept for a day.';
comment on column kept_answers.request is 'Hash of method, path and body: a key belongs to one request.';
comment on column kept_answers.status is 'Empty while the request is under way.';
create index kept_answers_by_time on kept_answers (began_at);
