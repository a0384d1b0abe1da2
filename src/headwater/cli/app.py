"""The tree of commands. Groups are named by their module and imported only when used: start-up has a budget."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, CycloptsError, Parameter, UnknownCommandError, UnusedCliTokensError

from headwater import __version__
from headwater.cli.examples import example_of
from headwater.cli.launch import Launch, program_as_typed
from headwater.cli.output import give_up_output, is_of_output, say, say_lines, show, show_lines
from headwater.errors import MAKE_ROOM, NO_SPACE, DependencyDown, HeadwaterError, QueryFailed, UsageError

FAILED = 1
DETAILS = "Run it again with `headwater --set service.mode=dev …`, which tells all of it."
REPORT = "Report it with these lines, and leave out what nobody else may see."
INTERRUPTED = 130
USAGE = 2

WELCOME = """\
Feed-first, polite web ingestion.

Try it offline:       headwater demo
Start here:           headwater up
Add a site:           headwater sources add https://example.org
Have a list?          headwater sources import feeds.opml
Is anything wrong?    headwater problems
Check this machine:   headwater doctor
Write a config file:  headwater config init
See every setting:    headwater config show
All commands:         headwater --help"""

EXIT_CODES = """\
0    done
1    failed
2    the command or a setting is wrong
3    partly done: some items failed
4    the named thing does not exist
5    the database, or another service it needs, is down
6    refused by policy
7    busy: another process holds the lock or the port, or a host has to be waited for
130  interrupted"""

app = App(
    name="headwater",
    help="Feed-first, polite, adaptive web ingestion.",
    version=f"headwater {__version__}",
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
)
app.meta.suppress_keyboard_interrupt = False
app.command(
    "headwater.cli.demo.demo:demo", name="demo", help="An offline tour on an embedded database and a simulated web."
)
app.command("headwater.cli.up:up", name="up", help="Run everything on this machine, in one terminal.")
app.command("headwater.cli.doctor:doctor", name="doctor", help="Check this machine and this installation.")
app.command("headwater.cli.config.group:app", name="config", help="Show and check the settings; write a settings file.")
app.command("headwater.cli.db:app", name="db", help="Migrate, inspect, back up and open the database.")
app.command("headwater.cli.frontier:app", name="frontier", help="Look at the queue of URLs, add, retry and remove.")
app.command("headwater.cli.workers:app", name="workers", help="Processes of roles, and one that takes on no more.")
app.command(
    "headwater.cli.sources.group:app", name="sources", help="The publishers we follow: add, change, import, export."
)
app.command("headwater.cli.crawl:app", name="crawl", help="Poll now, pause everything, and read the log of runs.")
app.command("headwater.cli.status.status:status", name="status", help="How things stand, and what is polled next.")
app.command("headwater.cli.problems:problems", name="problems", help="All that is wrong, and what to do about it.")
app.command(
    "headwater.cli.healthcheck:healthcheck", name="healthcheck", help="Is the installation well? For containers."
)
app.command("headwater.cli.metrics:metrics", name="metrics", help="Figures in the text format of Prometheus.")
app.command("headwater.cli.hosts:app", name="hosts", help="Hosts, their pace and their policies.")
app.command(
    "headwater.cli.docs.group:app", name="docs", help="The archive: list, search, show a document, read pages again."
)
app.command("headwater.cli.templates.group:app", name="templates", help="Page layouts learned for each host.")
app.command("headwater.cli.jobs:app", name="jobs", help="Vacancies: list and search those that are open.")
app.command("headwater.cli.changes:changes", name="changes", help="The log of changes, as every sink reads it.")
app.command("headwater.cli.views:app", name="views", help="Named filters for sinks, feeds and searches.")
app.command("headwater.cli.sinks.group:app", name="sinks", help="Where documents and vacancies are delivered.")
app.command("headwater.cli.takedown:app", name="takedown", help="Domains and URLs that are never visited.")
app.command(
    "headwater.cli.explain:explain",
    name="explain",
    help="Why is this URL or source not fetched now, and when will it be?",
)
app.command("headwater.cli.fetch:fetch", name="fetch", help="One request through the real path, told step by step.")
app.command("headwater.cli.mcp:mcp", name="mcp", help="Serve the archive to an agent on this machine (MCP).")
app.command("headwater.cli.audit:app", name="audit", help="Check politeness and counters against the records.")
app.command(
    "headwater.cli.identity:app", name="identity", help="Sign requests, so that publishers know them: init, show."
)
app.command("headwater.cli.verify:verify", name="verify", help="Was that us? For a site owner who asks.")
app.command("headwater.cli.compare:compare", name="compare", help="Another system's list of pages beside the archive.")
app.command("headwater.cli.run:app", name="run", help="Run one role: poll, fetch, maintain, deliver, web.")
app.command("headwater.cli.admin.group:app", name="admin", help="Who may call the web role: users, tokens, audit log.")
app.command("headwater.cli.simweb:app", name="simweb", help="The simulated web, to look at.")


@app.default
def welcome() -> None:
    show_lines(WELCOME)
    typed = program_as_typed()
    if typed != "headwater":
        show("")
        show(f"`headwater` is not on the PATH here: type {typed}, or put its folder there.")


@app.command(name="version")
def version() -> None:
    """Print the version."""
    show(f"headwater {__version__}")


@app.command(name="help")
def explain(topic: str = "") -> None:
    """Explain a topic: exit-codes.

    Parameters
    ----------
    topic
        What to explain; nothing means the list of commands.
    """
    if not topic:
        app.help_print([])
    elif topic == "exit-codes":
        show_lines(EXIT_CODES)
    else:
        raise UsageError(f"There is no help on {topic!r}.", fix="Topics: exit-codes. Commands: headwater --help")


@app.meta.default
def launch(
    *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
    config: Annotated[Path | None, Parameter(help="Settings file instead of the usual places.")] = None,
    assign: Annotated[
        tuple[str, ...], Parameter(name="--set", help="One setting: group.name=value.", negative="")
    ] = (),
) -> Any:
    """Options before the command hold for every command."""
    command, bound, ignored = app.parse_args(tokens, exit_on_error=False, print_error=False)
    launched = Launch(config, _overrides(assign), " ".join(app.parse_commands(tokens)[0]))
    extra = {name: launched for name, kind in ignored.items() if kind is Launch}
    try:
        return _call(command, bound.args, bound.kwargs | extra)
    except Exception as error:
        if is_told_by_run(error):
            raise
        return _tell(error, launched)


def is_told_by_run(error: Exception) -> bool:
    """Its sentence is the same in every mode. Trouble with the output is an OSError."""
    is_foreseen = isinstance(error, HeadwaterError) and not isinstance(error, QueryFailed)
    return is_foreseen or isinstance(error, OSError | CycloptsError)


def _tell(error: Exception, launched: Launch) -> int:
    """As `service.mode` lets it be told."""
    from headwater.masking import error_in_words, fault_in_words

    mode = launched.settings().settings.service.mode
    if isinstance(error, HeadwaterError):
        say_lines(f"headwater: {error_in_words(error, mode)}")
        say(f"  fix: {error.fix or (REPORT if mode == 'dev' else DETAILS)}")
        return error.exit_code
    say_lines(f"headwater: A fault of Headwater's own: {fault_in_words(error, mode)}")
    say(f"  fix: {REPORT if mode == 'dev' else DETAILS}")
    return FAILED


def run(arguments: Sequence[str]) -> int:
    """The code it ends with."""
    try:
        return _run(arguments)
    except BrokenPipeError:
        give_up_output(messages_too=True)  # the reader of a pipe left: nobody is there to be told
        return 0
    except OSError as error:
        if error.errno in NO_SPACE and not is_of_output(error):
            say(f"headwater: The disk of {error.filename or 'the data folder'} is full.")
            say(f"  fix: {MAKE_ROOM}")
            return DependencyDown.exit_code
        if not is_of_output(error):
            raise
        give_up_output()
        say(f"headwater: The output could not be written: {error.strerror}.")
        say("  fix: Make room, or write it elsewhere.")
        return FAILED


def _run(arguments: Sequence[str]) -> int:
    try:
        if asks_for_help(arguments):
            _add_example(arguments)
        return int(app.meta(arguments, exit_on_error=False, print_error=False, result_action="return_value") or 0)
    except HeadwaterError as error:
        say(f"headwater: {error.what}")
        if error.fix:
            say(f"  fix: {error.fix}")
        return error.exit_code
    except (UnusedCliTokensError, UnknownCommandError) as error:
        from headwater.cli.suggesting import command_in, unknown_command

        what, fix = unknown_command(app, (error.unused_tokens or ("",))[0], command_in(app, arguments))
        say(f"headwater: {what}")
        say(f"  fix: {fix}")
        return USAGE
    except CycloptsError as error:
        from headwater.cli.suggesting import command_in, misread

        what, fix = misread(str(error), arguments, command_in(app, arguments))
        say_lines(f"headwater: {what}")
        say(f"  fix: {fix}")
        return USAGE
    except KeyboardInterrupt:
        say("headwater: interrupted.")
        return INTERRUPTED


def asks_for_help(arguments: Sequence[str]) -> bool:
    return "--help" in arguments or "-h" in arguments


def _add_example(arguments: Sequence[str]) -> None:
    from headwater.cli.suggesting import command_in

    path = command_in(app, arguments)
    if example := example_of(" ".join(path)):
        command: App = app
        for name in path:
            command = command[name]
        command.help_epilogue = example


def _call(command: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    return command(*args, **kwargs)


def _overrides(assignments: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for text in assignments:
        path, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--set {text} has no value.", fix="Write it as --set group.name=value.")
        pairs[path.strip()] = value
    return pairs
