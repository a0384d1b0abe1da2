"""Records for feed readers and browsers: Atom, JSON Feed, and a page to read. Pure: records in, text out."""
