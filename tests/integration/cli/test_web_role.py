"""The web role as processes of its own: what they share is the database, and what they say holds no secret."""

import json
import os
import pty
import re
import signal
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.cli.conftest import LIMIT_SECONDS, PROGRAM, Starts
from tests.integration.cli.desk import Desk

if TYPE_CHECKING:
    import subprocess

PASSWORD, WRONG = "canary-password-of-ann", "canary-wrong-password"
LOUD = {"HEADWATER_LOG__LEVEL": "debug", "HEADWATER_LOG__FORMAT": "json", "HEADWATER_SERVICE__MODE": "dev"}


@dataclass
class WebRole:
    """A process, its address, and all that it answered and said."""

    process: "subprocess.Popen[str]"
    address: str
    heard: list[str] = field(default_factory=list)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        connection = HTTPConnection(self.address, timeout=LIMIT_SECONDS)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        data = None if body is None else json.dumps(body)
        connection.request(method, path, data, sent | ({"content-type": "application/json"} if data else {}))
        answer = connection.getresponse()
        text = answer.read().decode()
        self.heard.append(f"{answer.headers}{text}")
        connection.close()
        return answer.status, json.loads(text) if text.startswith("{") else text

    def log_in(self, password: str) -> int:
        return self.ask("POST", "/api/v1/login", {"name": "ann", "password": password})[0]

    def end(self) -> str:
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=LIMIT_SECONDS)[1]


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


@pytest.fixture
def roles(starts: Starts, database_url: str) -> list[WebRole]:
    where = {"HEADWATER_DATABASE__URL": database_url, "HEADWATER_WEB__PORT": "0"}
    return [web_role(starts("run", "web", **where, **LOUD)) for _ in range(2)]


def web_role(process: "subprocess.Popen[str]") -> WebRole:
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"Console: http://([\d.:]+)", line):
            return WebRole(process, found[1])
    raise AssertionError("it did not start")


@pytest.mark.long
def test_failed_logins_count_in_both_processes_and_no_secret_is_told(desk: Desk, roles: list[WebRole]) -> None:
    one, other = roles
    made = one.ask("POST", "/api/v1/users", {"name": "ann", "role": "admin", "password": PASSWORD})
    assert made[0] == 201
    token = desk.says("admin", "token", "create", "ci", "--role", "admin").out.strip()
    assert (one.log_in(WRONG), other.log_in(WRONG)) == (401, 401)
    desk.execute("update login_attempts set failures = failures + 10 where subject like 'account %'")
    assert one.log_in(WRONG) == 401
    assert (one.log_in(PASSWORD), other.log_in(PASSWORD)) == (429, 429)
    desk.execute("update login_attempts set blocked_until = now()")
    assert other.log_in(PASSWORD) == 200
    shown = {"authorization": f"Bearer {token}"}
    for role in roles:
        assert role.ask("GET", f"/api/v1/views?access_token={token}")[0] == 422
        assert role.ask("DELETE", f"/api/v1/tokens/{token}", **shown)[0] == 422
        assert role.ask("GET", f"/{token}", **shown)[0] == 404
        assert role.ask("PATCH", "/api/v1/users/ann", {"password": PASSWORD}, **shown)[0] == 200
        assert role.ask("POST", "/api/v1/users", {"name": "ann", "password": PASSWORD}, **shown)[0] == 422
        assert role.ask("POST", "/api/v1/users", {"name": "x", "password": PASSWORD, "y": 1}, **shown)[0] == 422
        assert role.ask("POST", "/api/v1/login", {"name": PASSWORD, "password": PASSWORD})[0] == 401
    desk.execute("alter table web_users rename to web_users_elsewhere")
    assert one.ask("POST", "/api/v1/users", {"name": "ben", "password": PASSWORD}, **shown)[0] == 500
    said = "".join([*(role.end() for role in roles), *one.heard, *other.heard, *rows_of(desk)])
    assert '"caller": "token:ci"' in said
    cookie = re.search(r"set-cookie: headwater=([\w-]{43})", "".join(other.heard))
    assert cookie
    for canary in (PASSWORD, WRONG, token, token[9:]):
        assert canary not in said
    assert said.count(cookie[1]) == 1, "told to the one who logged in, and to nobody else"


def rows_of(desk: Desk) -> list[str]:
    return [
        desk.value(f"select string_agg(t::text, '') from {table} t") or "" for table in ("audit_log", "kept_answers")
    ]


def test_a_password_is_asked_for_twice_at_a_terminal_and_not_shown(database_url: str, open_folder: Path) -> None:
    child, terminal = pty.fork()
    if child == 0:
        surroundings = {"HEADWATER_DATABASE__URL": database_url, "XDG_CONFIG_HOME": str(open_folder)}
        os.execve(PROGRAM, [PROGRAM, "admin", "create", "ann"], os.environ | surroundings)
    seen = ""
    for question in ("Password: ", "Once more: "):
        seen += read_until(terminal, question)
        os.write(terminal, f"{PASSWORD}\n".encode())
    seen += read_until(terminal, "ann may log in as admin.")
    assert os.waitpid(child, 0)[1] == 0
    os.close(terminal)
    assert PASSWORD not in seen


def read_until(terminal: int, text: str) -> str:
    seen = ""
    while text not in seen:
        seen += os.read(terminal, 1000).decode()
    return seen
