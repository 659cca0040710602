"""The library has every verb of the command line, and says what each does."""

import ast
import inspect
import sys
from typing import Any

import pytest

import apportion as ap
from apportion.cli.main import COMMANDS
from apportion.verbs.project import Project
from tests import processes
from tests.docs import as_written

NAMES = [command.__name__.rpartition(".")[2] for command in COMMANDS]
# Verbs that are called otherwise where they are functions, or are several.
CALLED = {
    "export": ("export_datadog", "export_excel", "export_focus", "export_journal", "export_tableau"),
    "budget": ("budgets", "set_budget"), "quota": ("quotas", "fit", "reserve", "lend"),
    "statement": ("statements",), "token": ("tokens",), "webhooks": ("add_hook", "try_hook", "deliver"), "notify": ("deliver", "try_channels"),
}  # fmt: skip
ALONE = {"serve", "schedule", "agent", "mcp"}  # run until they are stopped: for a terminal, not for a program


@pytest.mark.parametrize("name", NAMES)
def test_a_verb_of_the_command_line_is_a_function(name: str) -> None:
    if name not in ALONE:
        assert set(CALLED.get(name, (name,))) <= set(ap.__all__)


@pytest.mark.parametrize("name", ap.__all__)
def test_a_public_name_says_what_it_is(name: str) -> None:
    said = inspect.getdoc(getattr(ap, name)) or ""
    assert said.split("\n\n", maxsplit=1)[0].rstrip().endswith((".", ":"))


@pytest.mark.parametrize("name", sorted(name for name in ap.__all__ if inspect.isfunction(getattr(ap, name))))
def test_the_reference_shows_the_signature(name: str) -> None:
    made = ast.parse(f"def {as_written(getattr(ap, name))}: ...").body[0]
    assert isinstance(made, ast.FunctionDef)
    assert made.name == name
    assert made.returns is not None


def test_types_and_names_agree() -> None:
    """What type checkers are told is what is there."""
    tree = ast.parse(inspect.getsource(ap))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    told = {
        alias.asname or alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert told == set(ap.__all__)
    places = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for name, (module, there) in places.items():
        assert getattr(sys.modules[str(module)], there) is getattr(ap, name)


def test_importing_it_loads_nothing_heavy() -> None:
    heavy = "{'pyarrow', 'duckdb', 'ibis', 'sqlalchemy', 'pydantic', 'rich'} & set(sys.modules)"
    done = processes.run([sys.executable, "-c", f"import sys, apportion; print({heavy})"], text=True, check=True)
    assert done.stdout == "set()\n"


def test_the_newest_month_is_meant_where_none_is_named(small: Project) -> None:
    assert ap.report(small).period == "2026-10"
    assert ap.report(small, periods="2026-09..2026-10").period == "2026-09..2026-10"
    assert ap.explain(small, "vision").period == "2026-10"
    with pytest.raises(ap.ApportionError, match="more than a month"):
        ap.explain(small, "vision", "2026-09..2026-10")
    with pytest.raises(ap.ApportionError, match="is not a month"):
        ap.report(small, periods="October")


def test_wishes_are_there_by_name(small: Project) -> None:
    def one(level: str) -> Any:
        return ap.statements(small, ap.StatementWish("2026-09", level))

    assert {made.level for made in one("team")} == {"team"}
    assert {made.level for made in one("user")} == {"user"}
