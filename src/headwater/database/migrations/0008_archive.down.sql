drop table outbox, jobs, outlinks, raw_bodies, document_versions, documents;
drop function likeness_piece, search_vector, config_mark, legible, search_config;
drop view search_languages;
