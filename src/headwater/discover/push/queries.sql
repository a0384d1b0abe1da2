-- name: name_hub
-- The hub that a channel names now. Another one than before is asked from the beginning, and has no record yet.
INSERT INTO subscriptions AS s (channel_id, protocol, hub, hub_host, topic)
VALUES (:channel_id::uuid, :protocol::text, :hub::text, :hub_host::text, :topic::text)
ON CONFLICT (channel_id) DO UPDATE
SET protocol = excluded.protocol, hub = excluded.hub, hub_host = excluded.hub_host, topic = excluded.topic, state = 'wanted',
    reason = NULL, failures = 0, due_at = now(), since = NULL, lease_until = NULL, proofs = 0, needed = 3, pushes = 0, missed = 0,
    last_push_at = NULL, pinged_at = NULL, quiet_until = NULL;

-- name: forget_callbacks
-- What a channel's hubs were given before: pushes to it are refused from now on.
DELETE FROM callbacks WHERE channel_id = $1::uuid;

-- name: forget_hub
-- A channel that names none any more.
DELETE FROM subscriptions WHERE channel_id = $1::uuid;

-- name: note_record
-- A hub's record after a poll or a push of its channel, and until when a trusted one may say nothing.
UPDATE subscriptions
SET proofs = :proofs::integer, needed = :needed::integer, pushes = :pushes::integer, missed = :missed::integer,
    last_push_at = :last_push_at::timestamptz, pinged_at = :pinged_at::timestamptz, quiet_until = :quiet_until::timestamptz
WHERE channel_id = :channel_id::uuid;

-- name: count_unlisted
-- Items that a channel came to know between two polls, younger than something that it lists, and not among what it lists.
SELECT count(*) FROM channel_items
WHERE channel_id = $1::uuid AND first_seen_at > $2::timestamptz AND ($3::timestamptz IS NULL OR published_at >= $3) AND url_hash <> ALL ($4::bytea[])
  AND first_seen_at < $5::timestamptz AND signature <> '';

-- name: claim_subscriptions
-- Those that are due to be asked for or renewed, each put off for as long as asking may take. One whose channel is not polled
-- any more is left, or waits: it is looked at again in a day. None while everything is paused.
WITH due AS MATERIALIZED (
    SELECT s.channel_id, c.is_active FROM subscriptions s JOIN channels c ON c.id = s.channel_id
    WHERE s.due_at <= statement_timestamp() AND NOT EXISTS (SELECT FROM crawl_pause) ORDER BY s.due_at LIMIT $1::integer FOR UPDATE OF s SKIP LOCKED
), claimed AS (
    UPDATE subscriptions s SET due_at = statement_timestamp() + CASE WHEN d.is_active THEN interval '10 minutes' ELSE interval '1 day' END
    FROM due d WHERE s.channel_id = d.channel_id
    RETURNING s.channel_id, s.protocol, s.hub, s.hub_host, s.topic, s.failures, d.is_active, s.state
)
SELECT channel_id, protocol, hub, hub_host, topic, failures, is_active FROM claimed
WHERE is_active OR state IN ('active', 'pending') OR EXISTS (SELECT FROM callbacks k WHERE k.channel_id = claimed.channel_id);

-- name: callbacks_to_leave
-- What a hub has confirmed for a channel. Those of rssCloud cannot be taken back: they lapse within a day.
SELECT k.token, k.hub, k.topic FROM callbacks k JOIN subscriptions s ON s.channel_id = k.channel_id
WHERE k.channel_id = $1::uuid AND k.verified_at IS NOT NULL AND s.protocol = 'websub' AND s.lease_until > statement_timestamp();

-- name: note_left
-- A channel that is polled no more has told its hub. Its callbacks stay for the hub to confirm that, and go with the next look.
WITH known AS (
    DELETE FROM callbacks k USING subscriptions s
    WHERE k.channel_id = $1::uuid AND s.channel_id = $1 AND (k.verified_at IS NULL OR s.protocol <> 'websub' OR s.lease_until IS NULL)
)
UPDATE subscriptions s
SET state = 'wanted', reason = NULL, failures = 0, due_at = statement_timestamp() + interval '1 day', since = NULL, lease_until = NULL,
    quiet_until = NULL, proofs = 0, pinged_at = NULL
FROM channels c WHERE s.channel_id = $1 AND c.id = $1 AND NOT c.is_active;

-- name: end_callback
-- The hub has confirmed that it forgets us.
DELETE FROM callbacks WHERE token = $1::text;

-- name: drop_unverified
-- A callback that was to replace another one and that no hub has confirmed.
DELETE FROM callbacks WHERE channel_id = $1::uuid AND verified_at IS NULL;

-- name: add_callback
-- Before the hub is asked: it may confirm before it answers. Only for what the channel still names.
INSERT INTO callbacks (token, channel_id, secret, hub, topic)
SELECT :token::text, s.channel_id, :secret::text, s.hub, s.topic FROM subscriptions s
WHERE s.channel_id = :channel_id::uuid AND s.hub = :hub::text AND s.topic = :topic::text RETURNING token;

-- name: note_asked
-- The hub took the request, and has confirmed it or will: what it never confirms is asked for again.
UPDATE subscriptions s
SET state = CASE WHEN s.state = 'active' AND s.lease_until > statement_timestamp() THEN s.state ELSE 'pending' END,
    due_at = statement_timestamp() + $3::interval, failures = least(s.failures + 1, 1000), reason = NULL
WHERE s.channel_id = $1::uuid AND EXISTS (SELECT 1 FROM callbacks k WHERE k.token = $2::text AND k.verified_at IS NULL);

-- name: note_not_asked
-- The hub did not take it. One that is active stays so until its lease ends.
UPDATE subscriptions s
SET state = CASE WHEN s.state = 'active' AND s.lease_until > statement_timestamp() THEN s.state ELSE 'failed' END, reason = $2::text,
    due_at = statement_timestamp() + $3::interval, failures = least(s.failures + 1, 1000)
WHERE s.channel_id = $1::uuid;

-- name: put_off_hub
-- A hub without a free slot: what is due there waits for its turn, one behind the other, and hides no other hub.
UPDATE subscriptions s SET due_at = statement_timestamp() + $2::interval + w.place * $3::interval
FROM (SELECT d.channel_id, row_number() OVER (ORDER BY d.due_at) AS place
      FROM (SELECT channel_id, due_at FROM subscriptions
            WHERE hub_host = $1::text AND due_at <= statement_timestamp() + interval '10 minutes' ORDER BY due_at LIMIT 1000
            FOR UPDATE SKIP LOCKED) AS d) AS w
WHERE s.channel_id = w.channel_id;

-- name: callback_named
-- What was asked with it. Unknown: nobody was given it, or another has taken its place.
SELECT k.channel_id, k.secret, k.topic, k.verified_at, s.protocol, c.is_active FROM callbacks k
JOIN subscriptions s ON s.channel_id = k.channel_id JOIN channels c ON c.id = k.channel_id WHERE k.token = $1::text;

-- name: hold_subscription
-- Subscriptions before callbacks: two ways round would be a deadlock.
SELECT 1 FROM subscriptions WHERE channel_id = $1::uuid FOR NO KEY UPDATE;

-- name: confirm_callback
-- Invariant: only one that is pending, and only once.
UPDATE callbacks SET verified_at = statement_timestamp() WHERE token = $1::text AND verified_at IS NULL RETURNING channel_id;

-- name: begin_lease
-- It counts from now. Without a lapse before, the hub goes on from its record; after one it has to earn its trust again.
UPDATE subscriptions
SET since = CASE WHEN lease_until > statement_timestamp() THEN since ELSE statement_timestamp() END,
    proofs = CASE WHEN lease_until > statement_timestamp() THEN proofs ELSE 0 END, state = 'active', reason = NULL, failures = 0,
    lease_until = statement_timestamp() + $2::interval, due_at = statement_timestamp() + $3::interval
WHERE channel_id = $1::uuid;

-- name: drop_replaced
-- The callbacks that this one replaces: a hub that still pushes to them is told that they are gone.
DELETE FROM callbacks WHERE channel_id = $1::uuid AND token <> $2::text;

-- name: note_denied
-- At any time, also in the middle of a lease.
UPDATE subscriptions
SET state = 'denied', reason = $2::text, due_at = statement_timestamp() + $3::interval, since = NULL, lease_until = NULL, quiet_until = NULL,
    proofs = 0, pinged_at = NULL
WHERE channel_id = $1::uuid;

-- name: keep_push
-- Kept until the poll role reads it; of one channel no more than so many.
INSERT INTO pushes (channel_id, content_type, body, received_at)
SELECT $1::uuid, $2::text, $3::bytea, statement_timestamp() - $4::interval
WHERE EXISTS (SELECT 1 FROM subscriptions WHERE channel_id = $1)
  AND (SELECT count(*) FROM (SELECT 1 FROM pushes WHERE channel_id = $1 LIMIT $5::integer) AS waiting) < $5;

-- name: wake_readers
-- The poll role may be asleep.
SELECT pg_notify('headwater_push', '');

-- name: claim_pushed
-- Lease channels that something was pushed for; one that is being polled, or waited for, has its pushes looked at again in
-- a moment, and one that is not polled any more loses them. A channel whose poll was lost is left to the claim that counts that.
WITH waiting AS MATERIALIZED (
    SELECT DISTINCT channel_id FROM (SELECT channel_id FROM pushes WHERE due_at <= statement_timestamp() ORDER BY due_at LIMIT 200) AS p
), free AS MATERIALIZED (
    SELECT c.id FROM channels c JOIN waiting w ON w.channel_id = c.id
    WHERE c.is_active AND c.token IS NULL AND c.lost_count = 0
    ORDER BY c.id LIMIT $2::integer FOR UPDATE OF c SKIP LOCKED
), idle AS (
    DELETE FROM pushes p USING waiting w, channels c WHERE p.channel_id = w.channel_id AND c.id = w.channel_id AND NOT c.is_active
), later AS (
    UPDATE pushes p SET due_at = statement_timestamp() + interval '2 seconds' FROM waiting w
    WHERE p.channel_id = w.channel_id AND p.channel_id NOT IN (SELECT id FROM free)
      AND p.channel_id NOT IN (SELECT c.id FROM channels c JOIN waiting o ON o.channel_id = c.id WHERE NOT c.is_active)
)
UPDATE channels c
SET token = gen_random_uuid(), leased_by = $1::text, lease_until = statement_timestamp() + $3::interval, leased_at = statement_timestamp()
FROM free f WHERE c.id = f.id RETURNING c.id;

-- name: take_push
-- The oldest push of a channel, tried so often at the most: one that breaks what reads it is dropped.
UPDATE pushes SET attempts = attempts + 1
WHERE id = (SELECT id FROM pushes WHERE channel_id = $1::uuid ORDER BY id LIMIT 1)
RETURNING id, content_type, body, received_at, attempts > $2::smallint AS is_given_up;

-- name: drop_push
-- It was read, or never will be.
DELETE FROM pushes WHERE id = $1::bigint;

-- name: end_push
-- A channel after a push: what was learned, and perhaps an earlier poll; never a later one. Its other columns stay: nothing
-- was asked. Invariant: a stale token changes nothing.
UPDATE channels c
SET rhythm = coalesce(:rhythm::jsonb, c.rhythm), last_new_at = coalesce(:last_new_at::timestamptz, c.last_new_at),
    newest_item_at = greatest(c.newest_item_at, :newest_item_at::timestamptz),
    next_poll_at = CASE WHEN h.is_sooner THEN h.sooner ELSE c.next_poll_at END,
    next_reason = CASE WHEN h.is_sooner THEN :reason::text ELSE c.next_reason END,
    token = NULL, leased_by = NULL, lease_until = NULL, updated_at = now()
FROM (SELECT d.id, w.sooner, :calls_for_poll::boolean AND w.sooner < d.next_poll_at AND d.consecutive_errors = 0 AS is_sooner FROM channels d
      CROSS JOIN LATERAL (SELECT greatest(:now::timestamptz, d.last_polled_at + :shortest::interval) AS sooner) AS w
      WHERE d.id = :id::uuid) AS h
WHERE c.id = h.id AND c.token = :token::uuid RETURNING c.id;

-- name: note_ping
-- The next poll looks for what the hub spoke of.
UPDATE subscriptions SET pinged_at = $2::timestamptz WHERE channel_id = $1::uuid;

-- name: forget_pushes
-- What nobody read for so long was found by a poll.
DELETE FROM pushes WHERE id = ANY (ARRAY(SELECT id FROM pushes WHERE received_at < statement_timestamp() - $1::interval ORDER BY id LIMIT 1000));

-- name: look_after_quiet
-- Channels of trusted hubs that said nothing for longer than their rhythm makes likely: their next poll is now. The mark goes:
-- that poll sets it again.
WITH quiet AS MATERIALIZED (
    SELECT s.channel_id FROM subscriptions s JOIN channels c ON c.id = s.channel_id
    WHERE s.quiet_until <= statement_timestamp() ORDER BY s.quiet_until LIMIT 500 FOR UPDATE OF s, c SKIP LOCKED
), looked AS (
    UPDATE subscriptions s SET quiet_until = NULL FROM quiet q WHERE s.channel_id = q.channel_id
)
UPDATE channels c SET next_poll_at = statement_timestamp(), next_reason = 'its hub says nothing where something is likely; looking'
FROM quiet q WHERE c.id = q.channel_id AND c.token IS NULL AND c.next_poll_at > statement_timestamp() AND c.consecutive_errors = 0;
