"""Somebody edits one row of the demo's files. Exactly the figures that should move do."""

import csv
import shutil
from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from apportion.sources.demo.files import write
from apportion.verbs.ingest import ingest
from apportion.verbs.plan import plan
from apportion.verbs.project import open_project

Row = dict[str, str]
Figures = dict[tuple[str, str, str, str], Decimal]  # pool, reason, team, component
NANOS = Decimal("0.000000100")


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("month")
    write(folder, seed=7, scale="0.02")
    return folder


@pytest.fixture(scope="module")
def before(month: Path, tmp_path_factory: pytest.TempPathFactory) -> Figures:
    return figures(shutil.copytree(month, tmp_path_factory.mktemp("before") / "demo"))


@pytest.fixture
def project(month: Path, tmp_path: Path) -> Path:
    return shutil.copytree(month, tmp_path / "demo")


def figures(folder: Path) -> Figures:
    opened = open_project(folder)
    ingest(opened)
    out: Figures = defaultdict(Decimal)
    for row in plan(opened, "2026-10").plan.postings.to_pylist():
        out[row["pool"], row["reason"], row["team"], row["component"]] += row["amount"]
    return out


def edit(path: Path, choose: Callable[[Row], bool], change: Callable[[Row], None]) -> Row:
    """Change the first row that fits, as a person with an editor would; the rest stays byte for byte."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        rows, names = list(reader), list(reader.fieldnames or ())
    found = next(row for row in rows if choose(row))
    change(found)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return found


def moved(before: Figures, after: Figures) -> Figures:
    """What moved by more than a few nanos: largest remainder may hand a nano to somebody else."""
    keys = set(before) | set(after)
    change = {key: after.get(key, Decimal(0)) - before.get(key, Decimal(0)) for key in keys}
    return {key: amount for key, amount in change.items() if abs(amount) > NANOS}


def near(amount: Decimal, expected: Decimal | int) -> bool:
    return abs(amount - expected) <= NANOS


def pools_of(change: Figures) -> dict[str, Decimal]:
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for (pool, _, _, _), amount in change.items():
        sums[pool] += amount
    return {pool: round(amount, 6) for pool, amount in sums.items() if abs(amount) > NANOS}


def test_a_dearer_licence_moves_its_pool_by_its_shares(project: Path, before: Figures) -> None:
    def dearer(row: Row) -> None:
        for name in ("BilledCost", "EffectiveCost", "ContractedCost", "ListCost"):
            row[name] = str(Decimal(row[name]) + 100)

    bills = [path for path in sorted((project / "bills").iterdir()) if "icence" in path.read_text("utf-8")]
    edit(bills[0], lambda row: "icence" in row["ServiceName"], dearer)
    change = moved(before, figures(project))
    licence = {key: amount for key, amount in change.items() if key[3] == "licence"}
    assert pools_of(licence) == {"licences": Decimal(100)}, "its money grows by what was added"
    direct = {team: amount for (_, reason, team, _), amount in licence.items() if reason == "usage"}
    assert near(direct["robotics"], 60)
    assert near(direct["genomics"], 40)
    assert len(direct) == 2
    others: dict[str, Decimal] = defaultdict(Decimal)
    for (_, _, _, component), amount in change.items():
        others[component] += amount if component != "licence" else 0
    assert all(near(amount, 0) for amount in others.values()), (
        "no other money grows; tax and overheads follow what costs more"
    )
    elsewhere = {key for key in change if key[1] == "usage" and key[3] not in ("licence", "other", "support")}
    assert not elsewhere, "nobody's use of another pool costs anything else"


def test_an_hour_less_of_one_job_moves_its_owner_and_idle_alone(project: Path, before: Figures) -> None:
    """H100s are priced by capacity: whoever uses less frees idle capacity, and nobody else's price changes."""

    def shorter(row: Row) -> None:
        hour = int(row["end"][11:13])
        row["end"] = f"{row['end'][:11]}{hour - 1:02d}{row['end'][13:]}"

    def fits(row: Row) -> bool:
        start, end = row["start"], row["end"]
        long_enough = bool(end) and start[:10] == end[:10] and int(end[11:13]) - int(start[11:13]) >= 2
        return (
            row["node"].startswith("h100")
            and long_enough
            and "2026-10-05" < start < "2026-10-20"
            and row["account"].startswith("vis")
        )

    edit(project / "usage" / "slurm_jobs.csv", fits, shorter)
    change = moved(before, figures(project))
    compute = {key: amount for key, amount in change.items() if key[3] == "compute"}
    assert pools_of(compute) == {}, "money moves inside its pool"
    use = {key: amount for key, amount in change.items() if key[1] == "usage" and key[3] == "compute"}
    assert set(use) == {("h100", "usage", "vision", "compute")}, use
    (less,) = use.values()
    assert less < 0
    freed = Decimal(0)
    for (pool, reason, _, component), amount in change.items():
        freed += (
            amount
            if (pool, component) == ("h100", "compute") and reason in ("idle", "credit", "adjustment", "subsidy")
            else 0
        )
    assert near(freed, -less), "what the job no longer pays is idle"


def test_a_job_of_another_account_moves_between_two_teams(project: Path, before: Figures) -> None:
    def fits(row: Row) -> bool:
        return (
            row["node"].startswith("h100")
            and row["account"].startswith("vis")
            and "2026-10-05" < row["start"] < row["end"] < "2026-10-20"
        )

    path = project / "usage" / "slurm_jobs.csv"
    with path.open(newline="", encoding="utf-8") as file:
        other = next(row["account"] for row in csv.DictReader(file) if row["account"].startswith("lang"))
    edit(path, fits, lambda row: row.update(account=other))
    change = moved(before, figures(project))
    own = (key for key in change if key[:2] == ("h100", "usage") and key[3] == "compute")
    use = {key[2]: change[key] for key in own}
    assert set(use) == {"vision", "language"}, use
    assert use["vision"] < 0
    assert near(use["language"], -use["vision"])
