drop view source_pages;
drop function page_status, refresh_hosts, entry_id, ensure_days;
drop table statistics_mark, fetch_log, counter_deltas, counters, discoveries, url_frontier;
