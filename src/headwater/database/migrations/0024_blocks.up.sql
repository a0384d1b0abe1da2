-- What a document's text is made of, beside the text: headings, code, tables, pictures, live entries.
ALTER TABLE documents ADD COLUMN blocks bytea;
ALTER TABLE document_versions ADD COLUMN blocks bytea;
-- It is compressed already.
ALTER TABLE documents ALTER COLUMN blocks SET STORAGE EXTERNAL;
ALTER TABLE document_versions ALTER COLUMN blocks SET STORAGE EXTERNAL;
ALTER TYPE new_document ADD ATTRIBUTE blocks bytea;
COMMENT ON COLUMN documents.blocks IS 'JSON, compressed by zstd with the text as its dictionary. Null: the lines of the text say it all.';
