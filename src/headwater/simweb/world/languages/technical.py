"""English as manuals speak it."""

from dataclasses import replace

from headwater.simweb.world.languages import lines, topic, words
from headwater.simweb.world.languages.en import ENGLISH

TECHNICAL = replace(
    ENGLISH,
    verbs=words("reads, writes, rejects, caches, retries, compresses, validates, restarts, records, ignores"),
    whens=words("by default, on every start, once an hour, before the first request, after a restart, on demand"),
    titles=lines("""
        How {actor} {verb} {thing}
        Configuring {actor}
        Working with {thing}
        When {actor} {verb} {thing}
        Troubleshooting {thing}
        Limits of {actor}
    """),
    sentences=lines("""
        {actor} {verb} {thing} {when}, so nothing has to be configured for the first steps.
        Set the limit to {number} if your installation has to handle more than a few users at once.
        If {actor} cannot find {thing}, it reports the reason and stops with exit status {percent}.
        In most cases a value between {percent} and {number} is a good compromise between speed and memory.
        The following section explains why {actor} {verb} {thing} and how to turn that off.
        Changes take effect {when}; a running process keeps the values it has started with.
        Measurements on a small machine showed that {percent} percent of the time is spent waiting for {thing}.
        Do not edit {thing} by hand, because {actor} overwrites it {when}.
        Older releases handled this differently and needed {number} seconds for the same work.
        You can read the current state at any time; the answer lists {thing} together with its age.
        Each worker owns a share of the work, which means that {actor} never waits for a lock.
        A warning is printed when more than {percent} percent of the space is used.
        To go back, remove the setting and start again: {actor} {verb} {thing} as before.
    """),
    topics=(
        topic(
            "Manual",
            "configuration, installation, tuning, reference, recovery, logging",
            """
            the scheduler
            the command line client
            the storage engine
            the configuration loader
            the background worker
            the plugin host
            """,
            """
            the configuration file
            the write-ahead journal
            the local cache
            the list of known peers
            the access log
            the compiled templates
            the session store
            the retry queue
            """,
        ),
    ),
)
