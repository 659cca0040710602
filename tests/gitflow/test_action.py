"""The GitHub Action: what its steps really do on a small project, with a `gh` of ours that answers as GitHub does and keeps what it is sent."""

import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import apportion
from apportion.render.comment import MARK
from tests import processes

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "deploy/github"
GH = """\
#!{python}
import json, os, pathlib, sys
arguments, kept = sys.argv[1:], pathlib.Path(os.environ["KEPT"])
if "-X" in arguments:
    kept.joinpath("sent.json").write_text(json.dumps([arguments, json.load(sys.stdin)]))
elif any("/contents/" in one for one in arguments):
    print(kept.joinpath("proposed.yaml").read_text(), end="")
else:
    print(kept.joinpath("comments.json").read_text())
"""
PERSON = {"id": 7, "user": {"type": "User"}, "body": f"{MARK} I am the bot"}
OURS = {"id": 8, "user": {"type": "Bot"}, "body": f"{MARK}\n\n### Before"}
OTHER = {"id": 9, "user": {"type": "Bot"}, "body": "Coverage is up."}
GIVEN = {
    "inputs.token": "none", "inputs.project": "project", "inputs.policy": "project/policy.yaml", "inputs.months": "3", "inputs.install": "apportion",
    "inputs.backup": "", "github.repository": "acme/costs", "github.event.pull_request.number": "12", "github.event.pull_request.head.sha": "c0ffee",
}  # fmt: skip


@dataclass
class Runner:
    folder: Path
    given: dict[str, str]

    def act(self) -> processes.CompletedProcess[str]:
        """The step that compares, as the runner would start it."""
        step = read("whatif/action.yml")["runs"]["steps"][1]
        environment = {name: resolved(str(value), self.given) for name, value in step["env"].items()}
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        own = {"RUNNER_TEMP": str(self.folder), "GITHUB_ACTION_PATH": str(FOLDER / "whatif"), "KEPT": str(self.folder)}
        return processes.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.folder,
            env={**os.environ, **environment, **own, "PATH": path},
            text=True,
        )

    def propose(self, text: str, *pages: list[dict[str, Any]]) -> None:
        (self.folder / "proposed.yaml").write_text(text, "utf-8")
        (self.folder / "comments.json").write_text(json.dumps(pages or [[]]), "utf-8")

    @property
    def sent(self) -> tuple[list[str], str]:
        arguments, body = json.loads((self.folder / "sent.json").read_text("utf-8"))
        return arguments, body["body"]


def read(name: str) -> Any:
    return YAML(typ="safe").load((FOLDER / name).read_text("utf-8"))


def resolved(value: str, given: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ (.+?) \}\}", lambda found: given[found[1]], value)


@pytest.fixture
def runner(posted: Path, tmp_path: Path) -> Runner:
    folder = tmp_path / "runner"
    bin_folder, scripts = folder / "bin", folder / "apportion/bin"
    for one in (bin_folder, scripts):
        one.mkdir(parents=True)
    (bin_folder / "gh").write_text(GH.format(python=sys.executable), "utf-8")
    (bin_folder / "gh").chmod(0o755)
    for name in ("python", "apportion"):  # what the first step installs
        script = f'#!/bin/sh\nexec "{Path(sys.executable).parent / name}" "$@"\n'
        (scripts / name).write_text(script, "utf-8")
        (scripts / name).chmod(0o755)
    posted.rename(folder / "project")
    return Runner(folder, dict(GIVEN))


def policy(runner: Runner) -> str:
    return (runner.folder / "project/policy.yaml").read_text("utf-8")


def test_a_proposed_policy_becomes_one_comment(runner: Runner) -> None:
    runner.propose(policy(runner).replace("idle: central", "idle: proportional"), [PERSON, OTHER])
    done = runner.act()
    assert done.returncode == 0, done.stdout + done.stderr
    arguments, body = runner.sent
    assert arguments[:4] == ["api", "-X", "POST", "repos/acme/costs/issues/12/comments"]
    assert body.startswith(f"{MARK}\n\n### 117.50 USD of 2026-10 would move")
    assert "<summary>How evenly units are priced</summary>" in body


def test_a_policy_that_cannot_be_used_changes_the_comment_and_fails(runner: Runner) -> None:
    """On the second page, after a person who wrote the mark."""
    runner.propose(policy(runner).replace("method: capacity_rate", "method: capacity_rat"), [PERSON], [OTHER, OURS])
    done = runner.act()
    assert done.returncode == 1, done.stdout + done.stderr
    arguments, body = runner.sent
    assert arguments[:4] == ["api", "-X", "PATCH", "repos/acme/costs/issues/comments/8"]
    lines = body.splitlines()
    assert lines[2] == "### The policy cannot be used as it is."
    assert all(line.startswith("    ") for line in lines[4:])
    assert re.search(r"policy\.yaml:\d+:\d+", body)
    assert "capacity_rate" in body


def test_books_come_from_a_backup(runner: Runner) -> None:
    project = apportion.open_project(runner.folder / "project")
    apportion.backup(project, runner.folder / "books.backup")
    (runner.folder / "project/.apportion").rename(runner.folder / "gone")
    runner.given["inputs.backup"] = "books.backup"
    runner.propose(policy(runner).replace("idle: central", "idle: proportional"))
    done = runner.act()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "117.50 USD of 2026-10 would move" in runner.sent[1]


def test_what_one_workflow_keeps_of_the_books_is_what_the_other_fetches(runner: Runner) -> None:
    """The step that backs up runs as it stands, and its file is what the action is given."""
    (made, kept) = read("books.yml")["jobs"]["backup"]["steps"]
    path = f"{runner.folder / 'apportion/bin'}:{os.environ['PATH']}"
    environment = {"PROJECT": str(runner.folder / "project"), "RUNNER_TEMP": str(runner.folder), "PATH": path}
    for _ in range(2):  # a runner of one's own keeps what the run before left
        done = processes.run(
            ["bash", "-eo", "pipefail", "-c", made["run"]], env={**os.environ, **environment}, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
    fetched = next(step for job in read("policy.yml")["jobs"].values() for step in job["steps"] if "run" in step)["run"]
    assert f"--name {kept['with']['name']} " in fetched
    assert "--workflow books.yml " in fetched
    backup = resolved(kept["with"]["path"], {"runner.temp": str(runner.folder)})
    (asked,) = re.findall(r"backup: .*/(\S+)", (FOLDER / "policy.yml").read_text("utf-8"))
    assert Path(backup).name == asked
    (runner.folder / "project/.apportion").rename(runner.folder / "gone")
    runner.given["inputs.backup"] = backup
    runner.propose(policy(runner).replace("idle: central", "idle: proportional"))
    assert runner.act().returncode == 0
    assert "117.50 USD of 2026-10 would move" in runner.sent[1]


def steps() -> Iterator[dict[str, Any]]:
    yield from read("whatif/action.yml")["runs"]["steps"]
    for name in ("policy.yml", "books.yml"):
        for job in read(name)["jobs"].values():
            yield from job["steps"]


def test_nothing_that_others_write_is_part_of_a_script_and_every_foreign_action_is_pinned() -> None:
    for step in steps():
        assert "${{" not in step.get("run", "")
        if "uses" in step and not step["uses"].startswith("./"):
            assert re.fullmatch(r"actions/(checkout|upload-artifact)@[0-9a-f]{40}", step["uses"])
        if "run" in step:
            assert step["shell"] == "bash"
            assert processes.run(["bash", "-n", "-c", step["run"]]).returncode == 0


def test_the_workflow_may_do_little_and_runs_nothing_of_a_fork() -> None:
    workflow = read("policy.yml")
    assert workflow["permissions"] == {"contents": "read", "actions": "read", "pull-requests": "write"}
    assert list(workflow[True if True in workflow else "on"]) == ["pull_request"]
    (job,) = workflow["jobs"].values()
    assert job["if"] == "github.event.pull_request.head.repo.full_name == github.repository"
    assert job["steps"][0]["with"] == {
        "ref": "${{ github.event.pull_request.base.sha }}",
        "persist-credentials": False,
    }
    action, inputs = read("whatif/action.yml"), job["steps"][-1]["with"]
    assert inputs.keys() <= action["inputs"].keys()
    used = set(re.findall(r"\$\{\{ (.+?) \}\}", (FOLDER / "whatif/action.yml").read_text("utf-8")))
    assert {name.removeprefix("inputs.") for name in used if name.startswith("inputs.")} == action["inputs"].keys()
    assert used - {"github.token"} == GIVEN.keys()
