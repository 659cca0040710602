"""The examples of docs/how-to/use-the-api.md run, against a server on loopback, and give what the verbs say."""

import os
import re
import sys
from pathlib import Path

import pytest

import apportion
from apportion.books.tokens import DAY_S, Grant
from apportion.verbs.project import Project
from apportion.web.app import create_app
from tests import processes
from tests.web import world
from tests.web.serving import serving

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "use-the-api.md"
ADDRESS = "http://127.0.0.1:8765"


@pytest.fixture(scope="module")
def project(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = world.copied(small, tmp_path_factory.mktemp("page") / "project").folder
    stanza = re.search(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert stanza
    with (folder / "apportion.toml").open("a") as file:
        file.write("\n" + stanza[1])
    return apportion.open_project(folder)


def test_examples_run_and_say_what_the_verbs_say(project: Project) -> None:
    text = PAGE.read_text("utf-8")
    grant = Grant("page", "root", "admin", None, frozenset({"read", "push"}), DAY_S)
    _, key = project.books.tokens.make(grant)
    asked = [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ curl")]
    programs = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert (len(asked), len(programs)) == (2, 2)
    with serving(create_app(project.folder)) as address:
        variables = {**os.environ, "TOKEN": key}
        for command in asked:
            said = processes.run(
                ["bash", "-c", command.replace(ADDRESS, address)],
                env=variables,
                text=True,
                check=True,
            )
            assert '"code"' not in said.stdout, said.stdout
            assert "2026-10" in said.stdout or '"next":"' in said.stdout
        answers = [
            processes.run(
                [sys.executable, "-c", program.replace(ADDRESS, address)],
                env=variables,
                text=True,
                check=True,
            ).stdout
            for program in programs
        ]
    assert answers[0].strip() == apportion.explain(project, "vision", "2026-10").title
    assert answers[1].strip() == "2 0", "GPUs and cores"
    assert [row["resource"] for row in project.books.scan("usage").to_pylist() if row["workload"] == "job-1"] == [
        "node-1",
        "node-1",
    ]
