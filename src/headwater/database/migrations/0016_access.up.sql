-- Who may call the web role, how each shows who it is, and what each changed.

-- People who log in with a password.
create table web_users (
    name                text primary key check (name ~ '^[a-z0-9][a-z0-9._@-]{0,62}$'),
    role                text not null check (role in ('viewer', 'operator', 'admin')),
    password_hash       text not null,
    is_disabled         boolean not null default false,
    created_by          text not null,
    created_at          timestamptz not null default now(),
    password_changed_at timestamptz not null default now(),
    last_login_at       timestamptz
);
comment on table web_users is 'People who log in to the web role.';
comment on column web_users.password_hash is 'Argon2id, with its salt and parameters.';
create index web_users_admins on web_users (name) where role = 'admin' and not is_disabled;

-- What programs show instead of a password. A revoked one stays as a line of the list.
create table web_tokens (
    id           uuid primary key,
    name         text not null check (name ~ '^[a-z0-9][a-z0-9._@-]{0,62}$'),
    hash         bytea not null unique,
    prefix       text not null,
    role         text not null check (role in ('viewer', 'operator', 'admin')),
    created_by   text not null,
    created_at   timestamptz not null default now(),
    expires_at   timestamptz,
    last_used_at timestamptz,
    revoked_at   timestamptz
);
comment on column web_tokens.hash is 'SHA-256 of the token; the token itself is shown once and stands nowhere.';
comment on column web_tokens.prefix is 'Its first letters, by which a person knows it again.';
create unique index web_tokens_by_name on web_tokens (name) where revoked_at is null;
create index web_tokens_by_time on web_tokens (created_at desc, id desc);

-- Logins that hold. The cookie itself stands nowhere.
create table web_sessions (
    hash         bytea primary key,
    user_name    text not null references web_users on delete cascade,
    address      text not null,
    created_at   timestamptz not null default now(),
    last_seen_at timestamptz not null default now(),
    expires_at   timestamptz not null
);
comment on column web_sessions.hash is 'SHA-256 of the value of the cookie.';
comment on column web_sessions.last_seen_at is 'Written at most once a minute.';
create index web_sessions_by_user on web_sessions (user_name, created_at desc);
create index web_sessions_by_end on web_sessions (expires_at);

-- Failed logins, by account and by address: the next one has to wait.
create table login_attempts (
    subject       text primary key,
    failures      integer not null,
    failed_at     timestamptz not null default now(),
    blocked_until timestamptz not null
);
comment on column login_attempts.subject is 'An address, or the hash of a name: people type passwords where names belong.';
create index login_attempts_by_time on login_attempts (failed_at);

-- Every change that was made through the web role, and every login that was refused.
create table audit_log (
    id         bigint generated always as identity primary key,
    at         timestamptz not null default now(),
    actor      text not null,
    role       text,
    proof      text not null,
    action     text not null,
    target     text not null,
    status     smallint not null,
    request_id text not null,
    address    text not null,
    details    jsonb not null default '{}'
);
comment on table audit_log is 'No line is changed, and none of the last day is removed.';
comment on column audit_log.proof is 'How the actor showed who it is: a token, a session, a proxy, the command line.';
comment on column audit_log.action is 'The operation of the API, such as add_view.';
comment on column audit_log.details is 'What was asked for, cut and without secrets.';
create index audit_log_by_time on audit_log (at desc, id desc);
create index audit_log_by_actor on audit_log (actor, at desc, id desc);
create index audit_log_by_action on audit_log (action, at desc, id desc);
create index audit_log_by_both on audit_log (actor, action, at desc, id desc);

create function keep_audit_log() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' then
        if old.at < now() - interval '1 day' then
            return old;
        end if;
    end if;
    raise exception 'The audit log is kept as it was written.';
end $$;
create trigger keep_rows before update or delete on audit_log for each row execute function keep_audit_log();
create trigger keep_table before truncate on audit_log for each statement execute function keep_audit_log();
