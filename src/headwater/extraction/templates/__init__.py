"""Templates learned per host: a few pages and what a general extractor found in them teach where a host keeps its text.

`learner.learn` makes a template, `server.serve` reads a page with it or refuses, `explain.explain` says why.
Everything is pure.
"""
