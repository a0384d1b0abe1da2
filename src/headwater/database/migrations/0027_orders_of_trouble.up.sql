-- For lists of sources: the worst first, and those that have brought nothing new for long.
CREATE INDEX channels_worst ON channels (consecutive_errors, id) WHERE is_active AND consecutive_errors > 0;
CREATE INDEX channels_idle ON channels ((coalesce(last_new_at, created_at))) WHERE is_active;
