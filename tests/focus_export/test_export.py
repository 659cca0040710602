"""What is exported: the ledger to the last digit, the same bytes again, and nothing by halves."""

import json
import sys
from decimal import Decimal
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import apportion
from apportion.errors import BooksError
from apportion.render.focus.owners import resource_id, resource_name, tags
from apportion.verbs.focus import Form, export_focus
from apportion.verbs.project import Project
from tests import processes
from tests.focus_export import rules, world

MONTH = "2026-10"


def digests(folder: Path) -> dict[str, str]:
    return {file.name: sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


def test_csv_and_parquet_say_the_same(folder: Path) -> None:
    for name in ("cost_and_usage", "origin_charges", "billing_period"):
        typed = pq.read_table(folder / f"{name}.parquet")
        text = rules.table(folder / f"{name}.csv")
        assert [list(row) for row in text[:1]] == [typed.column_names]
        told = [
            {
                key: "" if value is None else format(value, "f") if isinstance(value, Decimal) else value
                for key, value in row.items()
            }
            for row in typed.to_pylist()
        ]
        assert told == text


def test_costs_are_decimals_of_their_places(folder: Path) -> None:
    schema = pq.read_schema(folder / "cost_and_usage.parquet")
    assert schema.field("EffectiveCost").type == pa.decimal128(38, 18)
    assert schema.field("ListCost").type == pa.decimal128(38, 12)
    assert schema.field("PricingQuantity").type == pa.decimal128(38, 15)


def test_focus_columns_come_first_and_ours_after_them(folder: Path) -> None:
    names = pq.read_schema(folder / "cost_and_usage.parquet").names
    ours = [name for name in names if name.startswith("x_")]
    assert names == [*sorted(set(names) - set(ours)), *sorted(ours)]
    assert len(names) - len(ours) == 67  # 65, and two that 1.4 deprecates


def test_corrections_and_transfers_stand_in_the_month_that_they_are_booked_in(export: rules.Export) -> None:
    corrected = [row for row in export.rows if row["ChargeClass"] == "Correction"]
    assert {row["x_CorrectedPeriod"] for row in corrected} == {"2026-09"}
    assert {row["ChargeCategory"] for row in corrected} == {
        "Usage",
        "Adjustment",
    }  # late lines, and what people decided
    decided = {
        row["x_TeamName"]: Decimal(row["EffectiveCost"]) for row in export.rows
        if row["ChargeCategory"] == "Adjustment" and row["x_Reason"] == "credit" and not row["ChargeClass"]
    }  # fmt: skip
    assert decided == {"speech": Decimal(-2), "vision": Decimal(2)}


def test_dust_and_unowned_money_are_nobodys(export: rules.Export) -> None:
    nobody = {row["x_TeamName"] for row in export.rows if not row["AllocatedResourceId"]}
    assert nobody == {"_unallocated", "_residual"}
    assert (
        sum(Decimal(row["EffectiveCost"]) for row in export.rows if row["x_TeamName"] == "_residual") % Decimal("1e-9")
        != 0
    )


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_the_same_books_give_the_same_bytes(settled: Project, tmp_path: Path, kind: str) -> None:
    for name in ("first", "second"):
        export_focus(settled, MONTH, tmp_path / name, Form(kind))
    assert digests(tmp_path / "first" / MONTH) == digests(tmp_path / "second" / MONTH)
    told = json.loads((tmp_path / "first" / MONTH / "metadata.json").read_text("utf-8"))
    written = digests(tmp_path / "first" / MONTH)
    assert {name: one["SHA256"] for name, one in told["Files"].items()} == {
        name: digest for name, digest in written.items() if name != "metadata.json"
    }


FORMS = (Form("csv"), Form("parquet"), Form("parquet", "1.2"), Form("csv", per_line=True))


def export_all(project: Project, folder: Path) -> dict[Form, dict[str, str]]:
    for number, form in enumerate(FORMS):
        export_focus(project, "2026-09", folder / str(number), form)
    return {form: digests(folder / str(number) / "2026-09") for number, form in enumerate(FORMS)}


def test_a_closed_month_never_changes(tmp_path: Path) -> None:
    project = world.make(tmp_path)
    before = export_all(project, tmp_path / "open")
    apportion.close(project, "2026-09", override="for the test")
    closed = export_all(project, tmp_path / "closed")
    status = [rules.table(tmp_path / when / "0/2026-09/billing_period.csv")[0] for when in ("open", "closed")]
    assert [one["BillingPeriodStatus"] for one in status] == ["Open", "Closed"]
    assert before[FORMS[0]]["cost_and_usage.csv"] == closed[FORMS[0]]["cost_and_usage.csv"]
    world.bill(tmp_path, "2026-09", "1.1")
    world.post(project, "2026-09")
    world.transfer(project, MONTH, {"speech": "-1", "vision": "1"}, kind="credit", about="2026-09")
    (tmp_path / "policy.yaml").write_text(world.POLICY.replace("Platform Office", "Elsewhere"), "utf-8")
    assert export_all(apportion.open_project(tmp_path), tmp_path / "later") == closed


def test_lines_are_split_exactly_on_both_sides(settled: Project, tmp_path: Path) -> None:
    export_focus(settled, MONTH, tmp_path, Form("csv", per_line=True))
    found = rules.read(tmp_path / MONTH, world.ledger(settled, MONTH))
    assert rules.broken(found) == {}
    lines = [origin for origin in found.origins if origin["x_SourceLineId"]]
    assert sorted(Decimal(line["EffectiveCost"]) for line in lines) == sorted(
        Decimal(line["EffectiveCost"]) for line in world.LINES
    )
    tax = [row for row in found.rows if row["ChargeCategory"] == "Tax"]
    assert len(tax) > 1
    assert all(row["BilledCost"] == row["EffectiveCost"] for row in tax)
    tagged = [row for row in found.rows if "a,b" in row["Tags"]]  # a line that says whose it is stays its owner's
    assert [(row["x_TeamName"], row["EffectiveCost"]) for row in tagged] == [('equipe / "b"', "7.500000000000000000")]


def test_1_2_keeps_the_split_in_columns_of_ours(settled: Project, tmp_path: Path, export: rules.Export) -> None:
    export_focus(settled, MONTH, tmp_path, Form("csv", "1.2"))
    rows = rules.table(tmp_path / MONTH / "cost_and_usage.csv")
    assert "AllocatedMethodId" not in rows[0]
    assert "ServiceProviderName" not in rows[0]
    shared = ("EffectiveCost", "BilledCost", "ProviderName", "x_OriginChargeId")
    assert [[row[name] for name in shared] + [row["x_AllocatedTags"]] for row in rows] == [
        [row[name] for name in shared] + [row["AllocatedTags"]] for row in export.rows
    ]


def test_nothing_posted_is_said(settled: Project, tmp_path: Path) -> None:
    with pytest.raises(BooksError, match="nothing-posted"):
        export_focus(settled, "2025-01", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_what_was_there(settled: Project, tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: writing fails in the middle of one."""
    export_focus(settled, MONTH, tmp_path, Form("csv"))
    (tmp_path / MONTH / "billing_period.csv").write_text("as it was", "utf-8")
    before = digests(tmp_path / MONTH)
    largest = max(file.stat().st_size for file in (tmp_path / MONTH).iterdir())
    bytes_left = largest // 2
    script = (
        "import resource, signal; from pathlib import Path; import apportion; from apportion.verbs.focus import Form, export_focus\n"
        f"project = apportion.open_project({str(settled.folder)!r})\n"
        "project.books.head(); signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({bytes_left}, {bytes_left}))\n"
        f"export_focus(project, {MONTH!r}, Path({str(tmp_path)!r}), Form('csv'))\n"
    )
    done = processes.run([sys.executable, "-c", script], text=True)
    assert done.returncode
    assert "File too large" in done.stderr
    assert digests(tmp_path / MONTH) == before


def test_a_name_in_any_script_is_told_and_its_id_is_plain() -> None:
    owner = {"cost_centre": "", "department": "", "team": "équipe/b", "project": "", "user": "ann"}
    assert resource_id(owner) == "%C3%A9quipe%2Fb//ann"
    assert resource_name(owner) == "équipe/b / ann"
    assert json.loads(str(tags(owner))) == {"apportion:team": "équipe/b", "apportion:user": "ann"}
