create index documents_language on documents (language) where deleted_at is null;
drop index documents_of_language;
