"""Processes of roles."""

from typing import Any

from headwater.reports.operations import RoleProcess


def worker_as_dict(one: RoleProcess) -> dict[str, Any]:
    return {
        "id": one.id,
        "role": one.role,
        "does": list(one.does),
        "state": str(one.state),
        "host": one.host,
        "pid": one.pid,
        "version": one.version,
        "started_at": one.started_at,
        "beat_at": one.beat_at,
        "under_way": one.under_way,
        "drain_asked_at": one.drain_asked_at,
        "drain_asked_by": one.drain_asked_by,
        "failing": dict(one.failing),
    }
