ALTER TYPE new_document DROP ATTRIBUTE authors;
ALTER TABLE documents DROP COLUMN authors;
