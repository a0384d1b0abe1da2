-- name: begin_operation
-- Note work that begins now.
insert into operations (id, kind, actor, total) values ($1, $2, $3, $4)
returning *;

-- name: note_progress
-- Say how far it is, and that its process lives.
update operations set done = $2, beat_at = now() where id = $1 and state = 'running';

-- name: end_operation
-- Say how it ended.
update operations
   set state = $2, result = $3, problem = $4, done = coalesce($5, done), beat_at = now(), ended_at = now()
 where id = $1 and state = 'running';

-- name: read_operation
-- One, with its state as it is: work whose process went silent was interrupted.
select id, kind,
       case when state = 'running' and beat_at < now() - $2::interval then 'interrupted' else state end as state,
       actor, done, total, result, problem, created_at, ended_at
  from operations
 where id = $1;

-- name: list_operations
-- A page of them, newest first.
select id, kind,
       case when state = 'running' and beat_at < now() - $1::interval then 'interrupted' else state end as state,
       actor, done, total, result, problem, created_at, ended_at
  from operations
 where (created_at, id) < ($2, $3)
 order by created_at desc, id desc
 limit $4;

-- name: forget_operations
-- Drop those that ended long ago, or were left by a dead process.
delete from operations where created_at < now() - $1::interval and state <> 'running'
    or beat_at < now() - $1::interval;

-- name: begin_answer
-- Take a key for a request. Its row is ours if the key is new, or if the process that took it before is long gone.
insert into kept_answers (caller, key, request) values ($1, $2, $3)
on conflict (caller, key) do update set began_at = now()
 where kept_answers.status is null and kept_answers.request = excluded.request
   and kept_answers.began_at < now() - $4::interval
returning true;

-- name: kept_answer
-- The answer that a key has, or will have.
select request, status, body from kept_answers where caller = $1 and key = $2;

-- name: keep_answer
-- Keep the answer for whoever asks again.
update kept_answers set status = $3, body = $4 where caller = $1 and key = $2;

-- name: drop_answer
-- Let a request that failed be made again.
delete from kept_answers where caller = $1 and key = $2 and status is null;

-- name: forget_answers
-- Drop those of former days.
delete from kept_answers where began_at < now() - $1::interval;
