"""HTML pages as lists: the articles they list, their further pages, the channels they name."""
