"""The work of a child of `up`: it reads pages and answers of channels alike, so that both come from one fork server."""

from typing import Any

from headwater.discover.polls.task import is_channel
from headwater.discover.polls.work import read_sent as read_channel
from headwater.extraction.work import read_sent as read_page


def read_sent(sent: Any) -> Any:
    return read_channel(sent) if isinstance(sent, bytes) and is_channel(sent) else read_page(sent)
