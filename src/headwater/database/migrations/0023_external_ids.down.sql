drop index sources_deleted;
drop table external_ids;
