drop function keep_page, keep_outlinks, keep_body, withdraw_page, tombstone_documents, write_document, keep_document, crown_heir,
    near_duplicate_of, says_the_same, lock_hashes, lock_number, is_comparable;
drop type new_body, new_document;
drop table outbox, jobs, outlinks, raw_bodies, document_versions, documents;
drop function likeness_piece, search_vector, config_mark, legible, search_config;
drop view search_languages;
