-- What people of the console decide: that nothing is asked for a while, and what site owners asked of them.
CREATE TABLE crawl_pause (
    only_row  boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    since     timestamptz NOT NULL DEFAULT now(),
    set_by    text NOT NULL,
    reason    text NOT NULL DEFAULT '' CHECK (length(reason) <= 500)
);
COMMENT ON TABLE crawl_pause IS 'A row while nothing may be polled or fetched.';

CREATE TABLE takedown_requests (
    id         uuid PRIMARY KEY,
    place      text NOT NULL CHECK (length(place) <= 2083),
    contact    text NOT NULL CHECK (length(contact) <= 320),
    reason     text NOT NULL CHECK (length(reason) <= 2000),
    asker      text NOT NULL,
    asked_at   timestamptz NOT NULL DEFAULT now(),
    decided_at timestamptz,
    decided_by text,
    is_granted boolean,
    CHECK ((decided_at IS NULL) = (is_granted IS NULL))
);
COMMENT ON TABLE takedown_requests IS 'Asked for by strangers on the page for site owners: a person decides.';
COMMENT ON COLUMN takedown_requests.asker IS 'The network address that sent it, shortened: for the limits alone.';
CREATE INDEX takedown_requests_open ON takedown_requests (asked_at, id) WHERE decided_at IS NULL;
CREATE INDEX takedown_requests_asked ON takedown_requests (asker, asked_at);
