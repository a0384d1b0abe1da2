-- Orders in which older programs ask for sources, a page by offset.
CREATE INDEX sources_by_url ON sources (url, id);
CREATE INDEX sources_by_creation ON sources (created_at, id);
CREATE INDEX sources_by_activity ON sources ((status = 'active'), lower(name), id);
