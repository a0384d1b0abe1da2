ALTER TYPE new_document DROP ATTRIBUTE blocks;
ALTER TABLE document_versions DROP COLUMN blocks;
ALTER TABLE documents DROP COLUMN blocks;
