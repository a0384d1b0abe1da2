-- Who wrote a document, name by name; `author` holds them in one line. Empty also where it was read before there was a list.
ALTER TABLE documents ADD COLUMN authors text[] NOT NULL DEFAULT '{}';
ALTER TYPE new_document ADD ATTRIBUTE authors text[];
