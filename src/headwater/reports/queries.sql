-- name: server_version
-- What the server calls itself, for people.
SELECT current_setting('server_version');

-- name: server_time
-- The only clock that decides anything.
SELECT clock_timestamp();
