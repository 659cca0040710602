"""LiteLLM's own FOCUS export, written by its transformer and serializers without its server: rows as its database hands them over go in, files come out."""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

import apportion
from tests import processes
from tests.checked import world
from tests.checked.tally import Outcome
from tests.servers import peer_here
from tests.sources import making

# `litellm` itself loads its whole client: its folder alone is made known, so that the writer is found below it.
WRITE = """
import importlib.util, json, sys, types
from pathlib import Path
import polars
(folder,) = importlib.util.find_spec("litellm").submodule_search_locations
for name in ("litellm", "litellm.integrations"):
    module = types.ModuleType(name)
    module.__path__ = [str(Path(folder, *name.split(".")[1:]))]
    sys.modules[name] = module
from litellm.integrations.focus.serializers import FocusCsvSerializer, FocusParquetSerializer
from litellm.integrations.focus.transformer import FocusTransformer
frame = FocusTransformer().transform(polars.DataFrame(json.loads(sys.stdin.read()), infer_schema_length=None))
for one in (FocusCsvSerializer(), FocusParquetSerializer()):
    Path("export." + one.extension).write_bytes(one.serialize(frame))
"""
TEAMS = {"vision": ("gpt-5", "claude-opus"), "speech": ("whisper-2",), "platform": ("gpt-5", "embed-4")}
DAYS = range(1, 31)
SMALL = "0.0000004"  # of a dollar, a day
OWNERS = [{"when": {"SubAccountName": "*"}, "team": "{SubAccountName}"}]
WHOLE = {"all": {"costs": {"ServiceName": "*"}, "method": "direct"}}


def rows() -> Iterator[dict[str, Any]]:
    """A month of daily spend by key and model."""
    for number, (team, model) in enumerate((team, model) for team, models in TEAMS.items() for model in models):
        for day in DAYS:
            yield row(team, model, day, f"{number + 1}.{day:02}{number:02}37", 100 * number + day)


def row(team: str, model: str, day: int, spend: str, requests: int) -> dict[str, Any]:
    ids = {
        "team_id": f"t-{team}",
        "team_alias": team,
        "user_id": "u1",
        "user_email": "u1@example.org",
        "organization_id": None,
    }
    key = {"api_key": f"hash-{team}", "api_key_alias": f"key-{team}", "custom_llm_provider": "openai"}
    what = {"model": f"openai/{model}", "model_group": model, "date": f"2026-10-{day:02}"}
    return ids | key | what | {"spend": float(spend), "api_requests": requests}


def write(folder: Path, given: list[dict[str, Any]]) -> None:
    folder.mkdir()
    python = str(peer_here("litellm") / "bin/python")
    processes.run([python, "-c", WRITE], cwd=folder, input=json.dumps(given), text=True, check=True)


def read(folder: Path, form: str) -> pa.Table:
    """Each day is a billing period of its own there."""
    found = making.read("focus", folder, path=f"export.{form}")
    return pa.concat_tables([one.tables["cost_lines"] for one in found])


def spent(given: list[dict[str, Any]], team: str) -> Decimal:
    return sum((Decimal(repr(one["spend"])) for one in given if one["team_alias"] == team), Decimal(0))


def compare(folder: Path, form: str, given: list[dict[str, Any]]) -> Iterator[Outcome]:
    bill = read(folder, form)
    lines = bill.to_pylist()
    requests = sum(one["api_requests"] for one in given)
    equal = [len(lines) == len(given), sum(line["ConsumedQuantity"] for line in lines) == requests]
    yield Outcome(f"{form}, lines", "Rows, and requests in all.", len(equal), sum(equal))
    policy = world.policy("2026-10", tuple(TEAMS), WHOLE, owners=OWNERS)
    owed = world.by_team(world.plan_of(world.Facts(policy, lines=bill)))
    sums = [owed[team] == spent(given, team) for team in TEAMS]
    yield Outcome(f"{form}, teams", "What each team spent, as what it owes.", len(sums), sum(sums))


def posted(folder: Path, given: list[dict[str, Any]]) -> Outcome:
    """Its thirty billing periods are one bill of the month."""
    making.put(folder / "apportion.toml", '[[sources]]\nname = "litellm"\nkind = "focus"\npath = "export.csv"\n')
    making.put(folder / "policy.yaml", json.dumps(world.policy("2026-10", tuple(TEAMS), WHOLE, owners=OWNERS)))
    project = apportion.open_project(folder)
    apportion.ingest(project)
    apportion.apply(project, "2026-10", made=apportion.plan(project, "2026-10").plan)
    rows = project.books.posted("2026-10").to_pylist()
    owed = {team: sum(row["amount"] for row in rows if row["team"] == team) for team in TEAMS}
    equal = sum(owed[team] == spent(given, team) for team in TEAMS)
    return Outcome("csv, posted", "The same of a project: ingested, planned and posted.", len(TEAMS), equal)


def outcomes(folder: Path) -> Iterator[Outcome]:
    given = list(rows())
    write(folder / "month", given)
    for form in ("csv", "parquet"):
        yield from compare(folder / "month", form, given)
    yield posted(folder / "month", given)
    small = [row("vision", "gpt-5", day, SMALL, 1) for day in DAYS]
    write(folder / "small", small)
    cost = sum(line["EffectiveCost"] for line in read(folder / "small", "parquet").to_pylist())
    equal = cost == spent(small, "vision")
    why = f"LiteLLM writes six places: {SMALL} of a dollar leaves its database and comes as nothing"
    yield Outcome("parquet, small amounts", "A month of spend below a millionth a day.", 1, int(equal), why)
