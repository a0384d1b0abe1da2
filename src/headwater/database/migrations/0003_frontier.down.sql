drop view source_pages;
drop function refresh_hosts, entry_id, ensure_fetch_log_days;
drop table statistics_mark, fetch_log, counter_deltas, counters, discoveries, url_frontier;
