"""What sinks are told, wherever it stands: in the outbox, or moved into the log already."""

TOLD = """(select kind, bucket, hash, version, op from outbox
           union all select kind, bucket, hash, version, op from changes) as o"""
