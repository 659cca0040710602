"""From the books to Prometheus: `apportion serve`, a token, a real Prometheus that scrapes it, and the CLI's report to compare with."""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from apportion.verbs.project import Project
from tests.metrics.scraping import MONTH, values
from tests.metrics.test_export import run
from tests.prometheus.server import cannot_start, scraping
from tests.served.serving import PROGRAM, served
from tests.web import world

PATIENCE_S = 170
JOBS = ("apportion", "vision")


@pytest.fixture(scope="module")
def folder(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return world.copied(small, tmp_path_factory.mktemp("served") / "project").folder


@pytest.fixture(scope="module")
def prometheus(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """With a job for finance and one for whoever sees one team alone."""
    if reason := cannot_start():
        pytest.skip(reason)
    place = tmp_path_factory.mktemp("prometheus")
    with served(folder) as server:
        jobs = [
            job(
                "apportion", server.address, token(folder, place / "all.token", "--role", "finance", "--deed", "whole")
            ),
            job("vision", server.address, token(folder, place / "vision.token", "--team", "vision")),
        ]
        config = {"global": {"scrape_interval": "3s", "scrape_timeout": "3s"}, "scrape_configs": jobs}
        with scraping(place / "data", json.dumps(config)) as url:
            for name in JOBS:
                heard(url, name)
            yield url


def job(name: str, address: str, file: Path) -> dict[str, object]:
    target = address.removeprefix("http://")
    return {
        "job_name": name,
        "authorization": {"type": "Bearer", "credentials_file": str(file)},
        "static_configs": [{"targets": [target]}],
    }


def token(folder: Path, to: Path, *more: str) -> Path:
    """As an admin makes one."""
    command = [
        *PROGRAM,
        "--project",
        str(folder),
        "token",
        "new",
        "prometheus",
        "--days",
        "30",
        "--deed",
        "read",
        *more,
        "-q",
    ]
    to.write_text(subprocess.run(command, check=True, capture_output=True, text=True).stdout, "utf-8")
    return to


def heard(url: str, name: str) -> None:
    late = time.monotonic() + PATIENCE_S
    while not values(url, last(f'apportion_build_info{{job="{name}"}}')):
        assert time.monotonic() < late, values(url, "up")
        time.sleep(0.1)


def last(selector: str) -> str:
    """On a busy machine a scrape may come too late, which makes the samples before it old at once; the books stand still here."""
    return f"last_over_time({selector}[10m])"


def printed(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, float]:
    """What the command line says of each owner."""
    capsys.readouterr()
    assert run("--project", folder, "report", *words, "-o", "json", "-q") == 0
    (section,) = json.loads(capsys.readouterr().out)["currencies"]
    return {row["owner"]: float(row["amount"]) for row in section["rows"]}


@pytest.mark.parametrize(
    ("state", "words"), [("posted", ("showback", "--period", MONTH)), ("estimated", ("live",))], ids=["posted", "live"]
)
def test_prometheus_has_what_the_command_line_prints(
    prometheus: str, folder: Path, capsys: pytest.CaptureFixture[str], state: str, words: tuple[str, ...]
) -> None:
    chosen = last(f'apportion_month_cost{{job="apportion", state="{state}"}}')
    told = values(prometheus, f"sum by (team) ({chosen})")
    found = {dict(labels)["team"]: round(amount, 2) for labels, amount in told.items()}
    assert found == {owner: round(amount, 2) for owner, amount in printed(folder, capsys, *words).items()}


def test_the_job_of_one_team_has_that_team_alone(prometheus: str) -> None:
    chosen = last('{job="vision", team!=""}')
    assert {dict(labels)["team"] for labels in values(prometheus, f"count by (team) ({chosen})")} == {"vision"}
    owed = [last(f'apportion_month_cost{{job="{name}", state="posted", team="vision"}}') for name in JOBS]
    all_, own = (values(prometheus, f"sum({one})") for one in owed)
    assert own == all_
    assert not values(prometheus, last('{__name__=~"apportion_(ledger|source|coverage|round)_.*", job="vision"}'))
