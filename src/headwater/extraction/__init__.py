"""From a page to an article: pure, bounded, and whatever the page says, only text comes out."""
