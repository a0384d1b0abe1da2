DROP INDEX sources_by_activity;
DROP INDEX sources_by_creation;
DROP INDEX sources_by_url;
