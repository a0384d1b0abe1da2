"""The life of a host's template: when it is learned, lent to pages, watched, learned again and given up.

`life` decides, `shelf` is what one worker has in hand, `store` is the database's side. What a template is and how it
reads a page is in `extract/templates`.
"""
