"""The examples of deploy/ are what their readers take them for: their commands run, their times come, their schemas hold."""

import os
import re
import shutil
import sys
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
from cronsim import CronSim
from ruamel.yaml import YAML

from apportion.verbs.project import open_project
from apportion.verbs.sync_settings import DAILY
from tests import processes
from tests.cli.tiny import edit

DEPLOY = Path(__file__).parents[2] / "deploy"
PROGRAM = Path(sys.executable).with_name("apportion")
UNITS = sorted((DEPLOY / "systemd").iterdir())
ANALYZE = shutil.which("systemd-analyze")
KUBERNETES = "1.33"


def rounds(folder: Path) -> list[str]:
    books = open_project(folder).books
    try:
        return [one.status for one in books.rounds.all()]
    finally:
        books.close()


def call(command: list[str], **environment: str) -> processes.CompletedProcess[str]:
    return processes.run(command, env={**os.environ, **environment}, text=True)


def test_the_line_for_cron_runs_and_speaks_only_of_failures(mine: Path) -> None:
    lines = [line for line in (DEPLOY / "cron/apportion").read_text("utf-8").splitlines() if line[:1] not in ("#", "")]
    *settings, job = lines
    environment = dict(line.split("=", 1) for line in settings)
    *when, user, command = job.split(maxsplit=6)
    assert [one.strftime("%H:%M") for one in islice(CronSim(" ".join(when), datetime.now(UTC)), 3)] == ["06:30"] * 3
    assert (user, environment["SHELL"]) == ("apportion", "/bin/sh")
    path = f"{PROGRAM.parent}:{environment['PATH']}"
    own = {**environment, "PATH": path, "APPORTION_PROJECT": str(mine)}
    shell = [environment["SHELL"], "-c", f"cd / && {command}"]
    good = call(shell, **own)
    assert (good.returncode, good.stdout, good.stderr) == (0, "", "")
    edit(mine / "apportion.toml", "usage/nodes.csv", "usage/none.csv")
    bad = call(shell, **own)
    assert bad.returncode == 1
    assert re.search(r"nodes +failed", bad.stdout)
    assert rounds(mine) == ["ok", "failed"]


def commands(unit: Path) -> list[str]:
    return re.findall(r"^ExecStart=(.+)$", unit.read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_is_in_order(unit: Path, tmp_path: Path) -> None:
    if ANALYZE is None:
        pytest.skip("no systemd-analyze is installed")
    for one in UNITS:  # a timer names its service
        text = one.read_text("utf-8").replace("/usr/local/bin/apportion", str(PROGRAM))
        (tmp_path / one.name).write_text(text, "utf-8")
    found = call([ANALYZE, "verify", "--man=no", str(tmp_path / unit.name)])
    assert (found.returncode, found.stderr) == (0, "")


def test_the_timer_comes_every_day_as_the_settings_say() -> None:
    if ANALYZE is None:
        pytest.skip("no systemd-analyze is installed")
    (when,) = re.findall(
        r"^OnCalendar=(.+)$", (DEPLOY / "systemd/apportion-sync.timer").read_text("utf-8"), re.MULTILINE
    )
    told = call([ANALYZE, "calendar", "--iterations=3", "--base-time=2026-11-16 12:00:00 UTC", when], TZ="UTC").stdout
    days = re.findall(r"2026-11-(\d\d) (\d\d:\d\d)", told)
    assert days == [("17", "06:30"), ("18", "06:30"), ("19", "06:30")]
    own = [f"{one:%d}" for one in islice(CronSim(DAILY, datetime(2026, 11, 16, 12, tzinfo=UTC)), 3)]
    assert own == [day for day, _ in days]


@pytest.mark.parametrize("unit", [unit for unit in UNITS if commands(unit)], ids=lambda unit: unit.name)
def test_the_command_of_a_unit_is_one_of_ours(unit: Path) -> None:
    """Every option of it is known: with --help behind them nothing is done."""
    (command,) = commands(unit)
    program, *arguments = command.split()
    assert Path(program).name == PROGRAM.name
    done = call([str(PROGRAM), *arguments, "--help"])
    assert (done.returncode, done.stdout[:6]) == (0, "Usage:")
    verb = done.stdout.split("\n", 1)[0].split()[2]
    known = set(re.findall(r"--[a-z-]+", done.stdout))
    assert verb == arguments[2]
    assert {one for one in arguments[3:] if one.startswith("--")} <= known


@pytest.fixture
def cronjob() -> Any:
    return YAML(typ="safe").load((DEPLOY / "kubernetes/cronjob.yaml").read_text("utf-8"))


def test_the_cron_job_is_one_that_kubernetes_knows(cronjob: Any) -> None:
    kubernetes_validate.validate(cronjob, KUBERNETES, strict=True)
    spec = cronjob["spec"]
    assert next(CronSim(spec["schedule"], datetime(2026, 11, 16, 12, tzinfo=UTC))).hour == 6
    spec["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["img"] = "x"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(cronjob, KUBERNETES, strict=True)


def test_the_cron_job_does_a_round(cronjob: Any, mine: Path) -> None:
    (container,) = cronjob["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    mounted = {one["mountPath"] for one in container["volumeMounts"]}
    assert "/project" in mounted
    arguments = [str(mine) if one == "/project" else one for one in container["args"]]
    done = call([str(PROGRAM.with_name(container["command"][0])), *arguments])
    assert done.returncode == 0, done.stderr
    assert rounds(mine) == ["ok"]
