"""From the books to Prometheus: two of `apportion serve`, a token, a real Prometheus that scrapes both, and the CLI's report to compare with."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from apportion.integrations.grafana.panels import once
from apportion.integrations.prometheus.rules import RULES
from apportion.verbs.project import Project
from tests import processes
from tests.metrics.scraping import MONTH, values
from tests.metrics.test_export import run
from tests.processes import PATIENCE_S
from tests.prometheus.server import cannot_start, scraping
from tests.served.serving import PROGRAM, served
from tests.web import world

JOBS = {"apportion": 2, "vision": 1}  # servers
COST = 'apportion_month_cost{job="apportion", state="STATE"}'


@pytest.fixture(scope="module")
def folder(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return world.copied(small, tmp_path_factory.mktemp("served") / "project").folder


@pytest.fixture(scope="module")
def prometheus(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """With a job for finance, of two servers, and one for whoever sees one team alone."""
    if reason := cannot_start():
        pytest.skip(reason)
    place = tmp_path_factory.mktemp("prometheus")
    with served(folder) as server, served(folder) as replica:
        whole = token(folder, place / "all.token", "--role", "finance", "--deed", "whole")
        jobs = [
            job("apportion", whole, server.address, replica.address),
            job("vision", token(folder, place / "vision.token", "--team", "vision"), server.address),
        ]
        config = {"global": {"scrape_interval": "3s", "scrape_timeout": "3s"}, "scrape_configs": jobs}
        with scraping(place / "data", json.dumps(config)) as url:
            for name, servers in JOBS.items():
                heard(url, name, servers)
            yield url


def job(name: str, file: Path, *addresses: str) -> dict[str, object]:
    targets = [address.removeprefix("http://") for address in addresses]
    return {
        "job_name": name,
        "authorization": {"type": "Bearer", "credentials_file": str(file)},
        "static_configs": [{"targets": targets}],
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
    to.write_text(processes.run(command, check=True, text=True).stdout, "utf-8")
    return to


def heard(url: str, name: str, servers: int) -> None:
    late = time.monotonic() + PATIENCE_S
    while len(values(url, last(f'apportion_collected_timestamp_seconds{{job="{name}"}}'))) < servers:
        assert time.monotonic() < late, values(url, "up")
        time.sleep(0.1)


def last(selector: str) -> str:
    """On a busy machine a scrape may come too late, which makes the samples before it old at once; the books stand still here."""
    return f"last_over_time({selector}[10m])"


def steady(expr: str) -> str:
    return re.sub(r"apportion_\w+\{[^}]*\}", lambda found: last(found[0]), expr)


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
    """As dashboards ask for it; a bare sum would have each server's."""
    asked = f"sum by (team) ({COST.replace('STATE', state)})"
    told = values(prometheus, steady(once(asked)))
    found = {dict(labels)["team"]: round(amount, 2) for labels, amount in told.items()}
    assert found == {owner: round(amount, 2) for owner, amount in printed(folder, capsys, *words).items()}


def test_the_job_of_one_team_has_that_team_alone(prometheus: str) -> None:
    chosen = last('{job="vision", team!=""}')
    assert {dict(labels)["team"] for labels in values(prometheus, f"count by (team) ({chosen})")} == {"vision"}
    owed = [f'sum(apportion_month_cost{{job="{name}", state="posted", team="vision"}})' for name in JOBS]
    all_, own = (values(prometheus, steady(once(one))) for one in owed)
    assert own == all_
    assert not values(prometheus, last('{__name__=~"apportion_(ledger|source|coverage|round)_.*", job="vision"}'))


def test_a_second_server_doubles_no_sum_of_the_rules(prometheus: str) -> None:
    """Each recorded sum with both servers is what it is with one, and a sum that takes no care is not."""
    bare = COST.replace("STATE", "posted")
    both = values(prometheus, f"sum({last(bare)})")[()]
    assert both == pytest.approx(2 * values(prometheus, steady(once(f"sum({bare})")))[()])
    (first, _) = sorted(
        dict(labels)["instance"] for labels in values(prometheus, f"count by (instance) ({last(bare)})")
    )
    recorded = re.findall(r"expr: (sum by .*)", RULES["apportion.recording.yml"])
    assert len(recorded) == 3
    for expr in recorded:
        two, one = (values(prometheus, of_job(expr, more)) for more in ("", f', instance="{first}"'))
        assert two == one != {}


def of_job(expr: str, more: str) -> str:
    return steady(re.sub(r"(apportion_month_cost)\b", rf'\1{{job="apportion"{more}}}', expr))
