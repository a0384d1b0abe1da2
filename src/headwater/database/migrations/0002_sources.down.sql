drop table events;
drop table external_ids;
drop table sources;
