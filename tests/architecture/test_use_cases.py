"""A person can do everything on the command line, and a program everything through the API: the two lists compared."""

from headwater.cli.app import app
from headwater.cli.reference import every_command
from headwater.serve.api.older import OLDER
from headwater.serve.app import every_route
from headwater.serve.console.troubles import is_page

# Command -> the operations that do the same.
SAME = {
    "frontier stats": ["show_frontier_stats"],
    "frontier list": ["list_frontier", "show_entry"],
    "frontier add": ["submit_url", "submit_urls"],
    "frontier retry": ["retry_url", "retry_urls"],
    "frontier raise": ["raise_url"],
    "frontier kill": ["kill_url", "kill_urls"],
    "frontier failures": ["list_failures"],
    "frontier rm": ["remove_url", "remove_urls"],
    "sources add": ["add_source", "add_sources"],
    "sources edit": ["change_source", "replace_source"],
    "sources import": ["import_sources"],
    "sources export": ["export_sources"],
    "sources rm": ["remove_source"],
    "sources test": ["test_source"],
    "sources simulate": ["simulate_source"],
    "sources list": ["list_sources", "find_by_identity"],
    "sources show": [
        "show_source",
        "show_channel",
        "list_channels",
        "list_channels_of_source",
        "list_events_of_source",
    ],
    "sources pause": ["pause_source", "disable_source"],
    "sources resume": ["resume_source", "enable_source"],
    "sources block": ["change_source"],
    "sources run": ["run_source"],
    "sources change": ["change_sources"],
    "crawl run": ["run_sources"],
    "crawl run-due": ["run_due"],
    "crawl pause": ["pause_crawl"],
    "crawl resume": ["resume_crawl"],
    "crawl logs": ["list_runs", "list_runs_of_source"],
    "crawl pages": ["list_pages_of_source"],
    "crawl waste": ["list_waste"],
    "status": ["show_stats", "show_schedule", "crawl_status"],
    "problems": ["list_problems"],
    "healthcheck": ["show_health"],
    "metrics": ["show_metrics"],
    "hosts policy set": ["change_policy"],
    "hosts policy clear": ["remove_policy"],
    "hosts rules set": ["change_rules"],
    "hosts rules clear": ["remove_rules"],
    "hosts rules list": ["list_rules", "show_rules"],
    "hosts robots": ["show_robots", "refetch_robots_of_host"],
    "hosts rights": ["show_rights"],
    "hosts list": ["list_hosts"],
    "hosts show": ["show_host", "show_policy"],
    "docs show": [
        *("show_document", "find_document", "list_versions", "show_version", "show_blocks", "list_outlinks"),
        "show_raw_body",
    ],
    "docs reextract": ["reextract_document"],
    "docs export": ["export_documents"],
    "docs search": ["search"],
    "docs list": ["list_documents"],
    "templates list": ["list_templates"],
    "templates show": ["show_template"],
    "templates relearn": ["relearn_template"],
    "templates disable": ["forget_template"],
    "jobs export": ["export_jobs"],
    "jobs search": ["search"],
    "jobs list": ["list_jobs"],
    "jobs show": ["show_job"],
    "jobs rm": ["remove_jobs"],
    "changes": ["list_changes"],
    "views add": ["add_view"],
    "views list": ["list_views"],
    "views show": ["show_view"],
    "views edit": ["change_view"],
    "views rm": ["remove_view"],
    "views preview": ["preview_view"],
    "sinks types": ["list_types"],
    "sinks add": ["add_sink"],
    "sinks list": ["list_sinks"],
    "sinks show": ["show_sink"],
    "sinks test": ["test_sink"],
    "sinks pause": ["pause_sink"],
    "sinks resume": ["resume_sink"],
    "sinks retry": ["retry_failed_records"],
    "sinks rebuild": ["rebuild_sink"],
    "sinks verify": ["verify_sink"],
    "sinks rm": ["delete_sink"],
    "takedown add": ["add_takedown", "show_takedown_reach"],
    "takedown rm": ["lift_takedown"],
    "takedown list": ["list_takedowns"],
    "takedown show": ["show_takedown"],
    "takedown requests": ["list_takedown_requests"],
    "takedown accept": ["accept_takedown_request"],
    "takedown refuse": ["refuse_takedown_request"],
    "workers list": ["show_workers"],
    "workers log": ["list_log_lines"],
    "workers drain": ["drain_worker"],
    "workers resume": ["resume_worker"],
    "verify": ["verify_request"],
    "identity show": ["published_keys"],
    "explain": ["explain_anything", "explain_source"],
    "fetch": ["fetch_metadata", "test_crawl"],
    "mcp": ["mcp"],
    "admin create": ["add_user"],
    "admin edit": ["change_user"],
    "admin reset-password": ["change_user", "change_password"],
    "admin list": ["list_users"],
    "admin rm": ["remove_user"],
    "admin token create": ["add_token"],
    "admin token list": ["list_tokens"],
    "admin token revoke": ["revoke_token"],
    "admin sessions": ["list_sessions"],
    "admin end-session": ["end_session", "end_sessions"],
    "admin audit": ["list_audit"],
}
# Commands without an operation, each with its reason.
HERE_ONLY = {
    **dict.fromkeys(["demo", "up", "version", "help", "simweb serve"], "of this machine and this terminal"),
    **dict.fromkeys(["run poll", "run fetch", "run deliver", "run web", "run maintain"], "processes are started here"),
    **dict.fromkeys(
        ["config init", "config show", "config get", "config check", "config path"], "files of this machine"
    ),
    **dict.fromkeys(
        [
            *("db migrate", "db rollback", "db status", "db shell", "db backup", "db restore", "db reports-role"),
            *("db move-bodies", "db search-engine", "doctor"),
        ],
        "of whoever runs the database",
    ),
    "compare": "reads a list that may be longer than any request, and walks the archive: minutes",
    **dict.fromkeys(["identity init", "identity rotate"], "a private key is made where it stays"),
    "docs inspect": "reads a page of the archive again, way by way, for a person",
    "templates explain": "reads a page of the archive aloud, step by step, for a person",
    "sinks retire": "asks a person for consent to delete documents of another system",
    "audit politeness": "a proof from the log, which may take minutes",
    **dict.fromkeys(["audit conservation", "audit robots", "audit delivery"], "the same"),
}
# Operations without a command, each with its reason.
PROGRAMS_ONLY = {
    **dict.fromkeys(["log_in", "log_out", "show_me"], "a person on the command line has an account of the machine"),
    **dict.fromkeys(["list_operations", "show_operation"], "a command waits until its work is done"),
    **dict.fromkeys(["confirm_subscription", "receive_push"], "hubs call them; `sources show` tells what came of it"),
    **dict.fromkeys(["openapi", "api_docs", "static_file", "healthz"], "about the API itself"),
    "stream": "commands follow one thing each: `changes --follow`, `crawl logs --follow`",
    "list_events": "`sources show` tells those of a source",
    **dict.fromkeys(["disable_feeds", "enable_feeds"], "`sources edit ingestion_mode=…` says the same"),
}


def commands() -> set[str]:
    return {name.removeprefix("headwater ") for name, _ in every_command(app, "headwater")}


def operations() -> set[str]:
    return {route.name for route in every_route() if OLDER not in route.tags and not is_page(route.path, "")}


def test_every_command_has_an_operation_or_a_reason() -> None:
    assert commands() == {*SAME, *HERE_ONLY}


def test_every_operation_has_a_command_or_a_reason() -> None:
    assert operations() == {*(name for names in SAME.values() for name in names), *PROGRAMS_ONLY}
