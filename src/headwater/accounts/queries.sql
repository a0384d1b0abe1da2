-- name: standing
-- Whether anything tells callers apart, and whether anybody may be an admin.
select exists (select from web_users)
           or exists (select from web_tokens where revoked_at is null) as has_logins,
       exists (select from web_users where role = 'admin' and not is_disabled)
           or exists (select from web_tokens
                       where role = 'admin' and revoked_at is null
                         and (expires_at is null or expires_at > now())) as has_admin;

-- name: add_user
-- None where the name is taken.
insert into web_users (name, role, password_hash, created_by) values ($1, $2, $3, $4)
on conflict (name) do nothing
returning *;

-- name: lock_admins
-- All that are active, in one order: whoever changes one of them waits for whoever changes another.
select name from web_users where role = 'admin' and not is_disabled order by name for update;

-- name: lock_user
-- One, for a change.
select * from web_users where name = $1 for update;

-- name: read_user
-- One by its name.
select * from web_users where name = $1;

-- name: list_users
-- A page of them by name.
select * from web_users where name > $1 order by name limit $2;

-- name: change_user
-- What is null stays as it is.
update web_users
   set role = coalesce($2, role),
       is_disabled = coalesce($3, is_disabled),
       password_hash = coalesce($4, password_hash),
       password_changed_at = case when $4 is null then password_changed_at else now() end
 where name = $1
returning *;

-- name: remove_user
-- With all its sessions.
delete from web_users where name = $1 returning name;

-- name: add_token
-- None where a token that holds has the name.
insert into web_tokens (id, name, hash, prefix, role, created_by, expires_at)
values (:id, :name, :hash, :prefix, :role, :created_by, :expires_at)
on conflict (name) where revoked_at is null do nothing
returning *;

-- name: token_shown
-- The one that was shown, if it still holds, and whether its use is to be noted.
select *, last_used_at is null or last_used_at < now() - interval '1 minute' as is_to_be_noted
  from web_tokens
 where hash = $1 and revoked_at is null and (expires_at is null or expires_at > now());

-- name: note_token_used
-- At most once a minute, whoever else notes it.
update web_tokens set last_used_at = now()
 where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute');

-- name: list_tokens
-- A page of them, newest first.
select * from web_tokens where (created_at, id) < ($1, $2) order by created_at desc, id desc limit $3;

-- name: tokens_called
-- Those that hold, by name or id.
select * from web_tokens where (name = $1 or id::text = $1) and revoked_at is null;

-- name: revoke_token
-- None where it is unknown or was revoked before.
update web_tokens set revoked_at = now() where id = $1 and revoked_at is null returning *;

-- name: begin_attempt
-- Count a login as failed before it is tried, so that many at once are not tried for free. No row: it has to wait.
-- Values: whose, how many are free, the longest wait in seconds, how long failures are remembered.
insert into login_attempts as known (subject, failures, blocked_until) values ($1, 1, '-infinity')
on conflict (subject) do update
   set failures = case when known.failed_at < now() - $4::interval then 1 else least(known.failures + 1, 1000) end,
       failed_at = now(),
       -- Not "now" for those that are free: others began before.
       blocked_until = case
           when known.failed_at < now() - $4::interval or known.failures + 1 < $2::integer then '-infinity'
           else now() + least($3::double precision, power(2, least(known.failures + 1 - $2::integer, 30)))
                        * interval '1 second' end
 where known.blocked_until <= now()
returning failures;

-- name: wait_for_attempt
-- Seconds until the next login may be tried. Before version 17 no time can be taken from an infinite one.
select greatest(1, ceil(extract(epoch from greatest(blocked_until, now()) - now())))::integer
  from login_attempts where subject = $1;

-- name: note_wait
-- Whether a login that has to wait meets a wait that nobody was told of.
update login_attempts set told_until = blocked_until
 where subject = any ($1::text[]) and blocked_until > now() and told_until is distinct from blocked_until
returning true;

-- name: forgive_account
-- After a login that went well.
delete from login_attempts where subject = $1;

-- name: forgive_address
-- Take back the one that was counted in advance; those before stay, or one good account would hide many guesses.
update login_attempts set failures = failures - 1, blocked_until = '-infinity' where subject = $1 and failures > 0;

-- name: forget_attempts
-- Those that count no longer.
delete from login_attempts where failed_at < now() - $1::interval;

-- name: begin_session
-- For a user that is still as it was when its password was compared.
insert into web_sessions (hash, user_name, address, expires_at)
select $1, name, $4, now() + $5::interval
  from web_users
 where name = $2 and password_hash = $3 and not is_disabled
returning expires_at;

-- name: note_login
-- When, and the password hashed by the rules of today if it was not.
-- One that was changed meanwhile stays.
update web_users
   set last_login_at = now(),
       password_hash = case when password_hash = $2 then coalesce($3, password_hash) else password_hash end
 where name = $1;

-- name: drop_oldest_sessions
-- Beyond as many as one person may have.
delete from web_sessions
 where hash in (select hash from web_sessions where user_name = $1 order by created_at desc offset $2);

-- name: session_shown
-- The one that was shown, if it still holds, and whether its use is to be noted.
select u.name, u.role, s.expires_at, s.last_seen_at < now() - interval '1 minute' as is_to_be_noted
  from web_sessions s
  join web_users u on u.name = s.user_name
 where s.hash = $1 and s.expires_at > now() and s.last_seen_at > now() - $2::interval and not u.is_disabled;

-- name: note_session_seen
-- At most once a minute.
update web_sessions set last_seen_at = now() where hash = $1 and last_seen_at < now() - interval '1 minute';

-- name: end_session
-- One login.
delete from web_sessions where hash = $1;

-- name: list_sessions_of
-- Logins of a user that hold, the latest first. Half of the hash names one: nobody can make a cookie of it.
select encode(substring(hash for 16), 'hex') as id, address, created_at, last_seen_at, expires_at from web_sessions
 where user_name = $1 and expires_at > now() and last_seen_at > now() - $2::interval
 order by created_at desc limit $3;

-- name: end_session_called
-- One login of a user, by its name.
delete from web_sessions where user_name = $1 and encode(substring(hash for 16), 'hex') = $2::text returning true;

-- name: end_sessions_of
-- All logins of a user.
delete from web_sessions where user_name = $1;

-- name: forget_sessions
-- Those that hold no longer.
delete from web_sessions where expires_at < now() or last_seen_at < now() - $1::interval;

-- name: write_audit
-- One line of the log.
insert into audit_log (actor, role, proof, action, target, status, request_id, address, details)
values (:actor, :role, :proof, :action, :target, :status, :request_id, :address, :details);

-- name: audit_page
-- Lines before a place in the log, newest first.
select * from audit_log where (at, id) < ($1, $2) and at >= $3 order by at desc, id desc limit $4;

-- name: audit_page_of_actor
-- The same of one actor.
select * from audit_log where actor = $5 and (at, id) < ($1, $2) and at >= $3 order by at desc, id desc limit $4;

-- name: audit_page_of_action
-- The same of one action.
select * from audit_log where action = $5 and (at, id) < ($1, $2) and at >= $3 order by at desc, id desc limit $4;

-- name: audit_page_of_both
-- The same of one action of one actor.
select * from audit_log
 where actor = $5 and action = $6 and (at, id) < ($1, $2) and at >= $3
 order by at desc, id desc
 limit $4;

-- name: forget_audit
-- The oldest lines, some at a time.
delete from audit_log
 where id in (select id from audit_log where at < now() - make_interval(days => $1::integer) order by at limit $2);

-- name: count_accounts
-- For the doctor: active users, tokens that hold, and how many of both are admins.
select count(*) filter (where is_user) as users,
       count(*) filter (where not is_user) as tokens,
       count(*) filter (where role = 'admin') as admins
  from (select role, true as is_user from web_users where not is_disabled
         union all
        select role, false from web_tokens
         where revoked_at is null and (expires_at is null or expires_at > now())) as able;
