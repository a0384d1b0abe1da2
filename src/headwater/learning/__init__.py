"""The life of a host's template: when it is learned, lent to pages, watched, learned again and given up.

`life` decides, `template_cache` is what one worker has in hand, `store` is the database's side. Templates themselves,
and how they read a page, are in `extraction/templates`.
"""
