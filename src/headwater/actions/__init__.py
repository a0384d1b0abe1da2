"""Use cases, put together from several stages: called by the command line, and by any other face alike.

Plain values go in, values come out; progress is told to a callback. Nothing here knows how it is shown.
"""
