"""All calls.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from headwater.client.calls.access import AccessCalls
from headwater.client.calls.audit import AuditCalls
from headwater.client.calls.changes import ChangesCalls
from headwater.client.calls.channels import ChannelsCalls
from headwater.client.calls.crawl import CrawlCalls
from headwater.client.calls.documents import DocumentsCalls
from headwater.client.calls.events import EventsCalls
from headwater.client.calls.explain import ExplainCalls
from headwater.client.calls.frontier import FrontierCalls
from headwater.client.calls.hosts import HostsCalls
from headwater.client.calls.jobs import JobsCalls
from headwater.client.calls.operations import OperationsCalls
from headwater.client.calls.runs import RunsCalls
from headwater.client.calls.search import SearchCalls
from headwater.client.calls.sinks import SinksCalls
from headwater.client.calls.sources import SourcesCalls
from headwater.client.calls.stats import StatsCalls
from headwater.client.calls.stream import StreamCalls
from headwater.client.calls.takedowns import TakedownsCalls
from headwater.client.calls.templates import TemplatesCalls
from headwater.client.calls.tokens import TokensCalls
from headwater.client.calls.users import UsersCalls
from headwater.client.calls.views import ViewsCalls


class ApiCalls(
    AccessCalls,
    AuditCalls,
    ChangesCalls,
    ChannelsCalls,
    CrawlCalls,
    DocumentsCalls,
    EventsCalls,
    ExplainCalls,
    FrontierCalls,
    HostsCalls,
    JobsCalls,
    OperationsCalls,
    RunsCalls,
    SearchCalls,
    SinksCalls,
    SourcesCalls,
    StatsCalls,
    StreamCalls,
    TakedownsCalls,
    TemplatesCalls,
    TokensCalls,
    UsersCalls,
    ViewsCalls,
):
    """A method for each operation of the API."""
