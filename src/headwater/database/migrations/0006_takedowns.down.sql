drop function host_backwards(text);
drop function url_host(text);
drop view takedown_watchers;
drop table takedowns;
