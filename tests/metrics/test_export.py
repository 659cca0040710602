"""`apportion export metrics`, `rules` and `grafana`: files for other programs, whole or not there."""

import builtins
import json
from pathlib import Path

import pytest

from apportion.cli.main import main
from apportion.errors import ProjectError
from apportion.render import exposition
from apportion.verbs.project import Project
from apportion.web.app import create_app
from tests.metrics.test_served import Samples, of, samples

FLEETING = ("apportion_collected_timestamp_seconds", "apportion_ledger_verif")


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return int(stop.value.code or 0)


def lasting(found: Samples) -> set[tuple[str, str, float]]:
    return {
        (name, str(sorted(labels.items())), value) for name, labels, value in found if not name.startswith(FLEETING)
    }


def test_the_file_says_what_the_server_says(small: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    to = tmp_path / "apportion.prom"
    assert run("--project", small.folder, "export", "metrics", "--to", to, "--verify", "-q") == 0
    written, served = lasting(samples(to.read_text("utf-8"))), lasting(of(create_app(small.folder), "finance"))
    assert written == served
    assert "apportion_ledger_verify_findings 0.0" in to.read_text("utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["apportion.prom"], "nothing half-written lies beside it"
    assert capsys.readouterr().out == ""


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *more: object) -> object:
        if name.startswith("prometheus_client"):
            raise ImportError("No module named 'prometheus_client'")
        return real(name, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ProjectError, match="metrics are asked for") as refused:
        exposition.exposed([])
    assert "apportion[metrics]" in refused.value.hint


def test_rules_and_dashboards_are_written(small: Project, tmp_path: Path) -> None:
    assert run("export", "rules", "--to", tmp_path / "rules", "-q") == 0
    assert run("--project", small.folder, "export", "grafana", "--to", tmp_path / "grafana", "-q") == 0
    assert sorted(path.name for path in (tmp_path / "rules").iterdir()) == [
        "apportion.alerts.yml",
        "apportion.recording.yml",
    ]
    made = sorted(str(path.relative_to(tmp_path / "grafana")) for path in (tmp_path / "grafana").rglob("*.*"))
    assert len(made) == 7
    assert json.loads((tmp_path / "grafana/dashboards/team.json").read_text("utf-8"))["uid"] == "apportion-team"
    before = {path: path.read_bytes() for path in (tmp_path / "grafana").rglob("*.*")}
    assert run("export", "grafana", "--to", tmp_path / "grafana", "--currency", "USD", "-q") == 0
    assert {path: path.read_bytes() for path in (tmp_path / "grafana").rglob("*.*")} == before
