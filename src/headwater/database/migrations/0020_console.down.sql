DROP TABLE takedown_requests;
DROP TABLE crawl_pause;
