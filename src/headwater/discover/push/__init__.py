"""Push in: WebSub as a subscriber, and rssCloud's ping.

A poll that reads a channel sees which hub it names (links). The poll role subscribes and renews (subscribing); the web
role confirms and receives (callbacks, inbox); the poll role reads what came as it reads a poll's answer (taking).
"""
