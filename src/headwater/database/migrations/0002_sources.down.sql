drop table events;
drop table external_ids;
drop table source_total_deltas;
drop table source_totals;
drop table sources;
drop function count_source_changed();
drop function count_sources_removed();
drop function count_sources_added();
