"""The core stays small: nothing heavy before a verb needs it, extras that are missing are named, and the page tells their sizes."""

import json
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests import processes
from tests.release import extras, without
from tests.release.conftest import Clean, run
from tests.release.parts import CORE, ELSEWHERE, PROJECT, ROOT, added, installed, parts, size
from tests.release.parts import extras as every_extra

LIGHT = {"typer", "shellingham", "annotated-doc", "click"}  # all of other people's code that help may load
WEB = ["fastapi", "starlette", "uvicorn"]
THEIR_OWN_TESTS = {"metrics", "otel", "notebook"}  # hold what is said where they are missing
CASES: dict[str, tuple[str, list[str], str]] = {  # by extra: the verb, what to refuse where it is installed, a stanza of apportion.toml
    "postgres": ("verify", [], '[books]\nurl = "postgresql+psycopg://nobody@/none?host=/nowhere"\n'),
    "spark": ("plan --period 2026-10 --engine spark", [], ""),
    "pdf": ("statement --period 2026-10 --to {to}", [], ""),
    "web": ("serve --port 0", WEB, ""),
    "agent": ("agent record {to}", [], ""),
    "excel": ("export excel --period 2026-10 --to {to}.xlsx", [], ""),
    "tableau": ("export tableau --period 2026-10 --to {to}.hyper", [], ""),
    "mcp": ("mcp", [], ""),
    "kubernetes": ("ingest extra", [], '[[sources]]\nname = "extra"\nkind = "kubernetes"\ncluster = "east"\nsince = "2026-10-01"\n'),
    "datadog": (
        "ingest extra", [],
        '[[sources]]\nname = "extra"\nkind = "datadog"\nsite = "datadoghq.eu"\napi_key = "env:PATH"\napp_key = "env:PATH"\nsince = "2026-10-01"\n',
    ),
    "keyring": (
        "ingest extra", [],
        '[[sources]]\nname = "extra"\nkind = "datadog"\nsite = "datadoghq.eu"\napi_key = "keyring:dd/key"\napp_key = "env:PATH"\nsince = "2026-10-01"\n',
    ),
    "aws": ("ingest extra", [], '[[sources]]\nname = "extra"\nkind = "cost_explorer"\nsince = "2026-10-01"\n'),
    "google": (
        "ingest extra", [],
        '[[sources]]\nname = "extra"\nkind = "google"\nproject = "p"\ndataset = "d"\nbilling_account = "0123AB-4567CD-89EF01"\nsince = "2026-10-01"\n',
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "start", ["import apportion", "from apportion.cli.main import main; main(['--help'])"], ids=["import", "help"]
)
def test_nothing_heavy_is_imported_before_a_verb_needs_it(start: str) -> None:
    told = "atexit.register(lambda: print(*sys.modules.keys() - before, file=sys.stderr))"
    script = f"import atexit, sys; before = {{*sys.modules}}; {told}; {start}"
    done = processes.run([sys.executable, "-c", script], text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "apportion" in loaded
    owners = packages_distributions()
    foreign = {owner.lower() for name in loaded for owner in owners.get(name, []) if owner.lower() in installed()}
    assert foreign - {"apportion"} <= LIGHT


def test_the_search_for_heavy_imports_knows_every_part() -> None:
    """Each part of an install can be told by some module that it brings; those without are data or names for others."""
    found = {
        owner.lower().replace("_", "-").replace(".", "-")
        for owners in packages_distributions().values()
        for owner in owners
    }
    assert {part.name for part in parts()} - found == set()


def test_every_extra_has_its_case() -> None:
    assert {*CASES, *THEIR_OWN_TESTS, *ELSEWHERE} == set(PROJECT["optional-dependencies"])


def test_a_missing_extra_is_named_by_the_verb_that_needs_it(clean: Clean, tmp_path: Path) -> None:
    """In an environment that has none of them but `web` and `metrics`."""
    calls = []
    for extra, (verb, refused, stanza) in CASES.items():
        project = clean.project
        if stanza:
            project = tmp_path / extra
            project.mkdir()
            (project / "apportion.toml").write_text(stanza, "utf-8")
            (project / "policy.yaml").write_text((clean.project / "policy.yaml").read_text("utf-8"), "utf-8")
        calls.append((refused, ["--project", str(project), *verb.format(to=tmp_path / f"to-{extra}").split()]))
    done = run(clean.command("python"), "-P", without.__file__, json.dumps(calls))
    assert not done.returncode, done.stderr
    said = dict(zip(CASES, json.loads(done.stdout), strict=True))
    wrong = {extra: found for extra, found in said.items() if found[0] != 1 or f"apportion[{extra}]" not in found[1]}
    assert wrong == {}


def test_the_page_of_extras_says_their_sizes() -> None:
    told = extras.told()
    found = {"core" if extra == CORE else extra: size(added(extra)) / extras.MB for extra in (CORE, *every_extra())}
    assert set(told) == set(found)
    for extra, megabytes in told.items():
        assert megabytes * 0.6 - 0.1 < found[extra] < megabytes * 1.6 + 0.1, f"{extra}: make extras"


def test_the_page_is_linked() -> None:
    assert "reference/extras.md" in (ROOT / "docs/README.md").read_text("utf-8")
