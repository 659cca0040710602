"""Every command and every page prints figures of a month as a face that is compared, or it is said here why it does not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from apportion.cli.main import app
from apportion.web.app import create_app
from tests.cli.conftest import Run
from tests.cli.tiny import write_tiny
from tests.one_figure.faces import FACES

SAME = "what a compared face prints, by the same function"
DAYS = "days or postings, each rounded by itself or with every digit"
RUNS = "runs, jobs or nodes, each rounded by itself"
HOURS = "hours, quantities, shares or prices of a unit"
AHEAD = "what may come, or what another rule would make of it"
STATE = "rules, people, sources or the state of the books"
ONE = "one decision, one finding or one difference, as it was made"
COMMANDS = {
    "report showback": "report, as CSV", "report pools": "pages of pools", "report idle": "page of idle", "plan": "plan", "statement": "statements",
    "explain": "explain", "ledger": "ledger", "views": "views", "export excel": "workbook", "export metrics": "metrics",
    **dict.fromkeys(("apply", "budget list", "close", "export journal", "mcp", "report coverage", "serve"), SAME),
    **dict.fromkeys(("export datadog", "export focus", "export tableau", "report live", "report pool", "report trend"), DAYS),
    **dict.fromkeys(("anomalies list", "anomalies show", "report anomalies"), DAYS),
    **dict.fromkeys(("cost", "report efficiency", "report facets", "report nodes", "report runs", "report waste"), RUNS),
    **dict.fromkeys(("prices", "quota pledges", "quota show", "report carbon", "report held"), HOURS),
    **dict.fromkeys(("advise", "estimate", "forecast", "report fairness", "review", "split", "whatif"), AHEAD),
    **dict.fromkeys(("adjust", "check", "dispute list", "dispute open", "dispute say", "dispute settle", "dispute show"), ONE),
    **dict.fromkeys(("report adjustments", "report corrections", "report reconcile", "quota post", "sync"), ONE),
}  # fmt: skip
SILENT = {  # commands that print no money of a month
    "agent record", "agent replay", "agent run", "anomalies ack", "audit", "backup", "budget set", "demo", "draft adopt", "draft drop", "draft facets",
    "draft list", "draft propose", "draft show", "enforce", "erase", "export grafana", "export rules", "gc", "ingest", "init", "methods",
    "notify deliver", "notify list", "notify test", "quota lend", "quota reserve", "quota return", "quota void", "schedule", "token list",
    "token new", "token revoke", "verify", "webhooks add", "webhooks deliver", "webhooks end", "webhooks list", "webhooks renew", "webhooks test",
}  # fmt: skip
PAGES = {
    "teams": "pages of teams", "pools": "pages of pools", "idle": "page of idle", "ledger": "ledger", "statements": "statements",
    "explain": "explain", "metrics": "metrics",
    **dict.fromkeys(("", "overview", "projects", "users", "search"), SAME),
    **dict.fromkeys(("anomalies", "live"), DAYS),
    **dict.fromkeys(("facets", "runs"), RUNS),
    **dict.fromkeys(("prices", "quotas"), HOURS),
    **dict.fromkeys(("advice", "estimate", "forecast", "review", "what-if"), AHEAD),
    **dict.fromkeys(("adjustments", "disputes", "health"), ONE),
    **dict.fromkeys(("admin", "api", "door", "drafts", "login", "logout", "me", "methods", "policy", "static", "tokens", "livez", "readyz"), STATE),
}  # fmt: skip
REASONS = {SAME, DAYS, RUNS, HOURS, AHEAD, STATE, ONE}


def commands_of(command: Any, before: str = "") -> Iterator[str]:
    for name, one in command.commands.items():
        yield from commands_of(one, f"{before}{name} ") if hasattr(one, "commands") else [before + name]


def test_every_command_is_in_the_list() -> None:
    every = set(commands_of(typer.main.get_command(app)))
    assert every == {*COMMANDS, *SILENT}


def test_every_page_is_in_the_list(tmp_path: Path, run: Run) -> None:
    folder = write_tiny(tmp_path / "tiny")
    run("--project", folder, "ingest")
    paths = {getattr(route, "path", "") for route in create_app(folder).routes}
    names = {path.split("/")[1].partition(".")[0] for path in paths if path.startswith("/")}
    assert names <= {*PAGES}, names - {*PAGES}


def test_a_place_names_a_face_or_a_reason() -> None:
    assert {*COMMANDS.values(), *PAGES.values()} - REASONS <= {*FACES}
