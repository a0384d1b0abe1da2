"""Child processes in which pages and answers of channels are read."""
