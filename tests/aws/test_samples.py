"""The samples that lie beside a development checkout: every row and every digit arrives, and is planned and posted."""

import csv
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq

import apportion
from apportion.sources.aws.weights import kind_of, unit_costs
from tests.focusfull.samples import POLICY, needed
from tests.sources import making

FILES = {
    "focus_converters_anonymous_aws_cur.csv": "aws",
    "aws_legacy_cur.csv": "nise_synthetic",
    "SYNTHETIC_cur2_with_eks_gpu_split.parquet": "aws",
}
COSTS = {
    "BilledCost": ("lineItem/UnblendedCost", "line_item_unblended_cost"),
    "ListCost": ("pricing/publicOnDemandCost", "pricing_public_on_demand_cost"),
    "NetCost": ("lineItem/NetUnblendedCost", "line_item_net_unblended_cost"),
}


def sample(name: str) -> Path:
    return needed() / FILES[name] / name


def rows_of(path: Path) -> list[dict[str, str]]:
    """By other means than ours."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    return [
        {key: "" if value is None else repr(value) for key, value in row.items()}
        for row in pq.read_table(path).to_pylist()
    ]


def total(rows: list[dict[str, str]], columns: tuple[str, ...]) -> Decimal:
    """Rounded once at the 18th place: one of the samples writes doubles out with more."""
    cells = [row[column] for row in rows for column in columns if row.get(column)]
    with localcontext() as context:
        context.prec = 60
        return sum(map(Decimal, cells), Decimal(0)).quantize(Decimal("1e-18"), ROUND_HALF_EVEN)


def test_nothing_is_lost_on_reading_planning_and_posting(tmp_path: Path) -> None:
    rows = {name: rows_of(sample(name)) for name in FILES}
    stanzas = ""
    for name in FILES:
        making.put(tmp_path / "bills" / name, sample(name).read_bytes())
        stanzas += f'[[sources]]\nname = "{name.partition("_")[0]}"\nkind = "aws"\npath = "bills/{name}"\n'
    making.put(tmp_path / "apportion.toml", f'[project]\nname = "samples"\n{stanzas}')
    making.put(tmp_path / "policy.yaml", POLICY.format(basis="effective"))
    project = apportion.open_project(tmp_path)
    apportion.ingest(project)
    lines = project.books.scan("cost_lines").to_pylist()
    for name, own in rows.items():
        mine = [line for line in lines if line["source"] == name.partition("_")[0]]
        assert len(mine) == len(own)
        for cost, columns in COSTS.items():
            assert sum((line[cost] or Decimal(0) for line in mine), Decimal(0)) == total(own, columns), cost
        exact = sum(
            (Decimal(row[column]) for row in own for column in COSTS["BilledCost"] if row.get(column)), Decimal(0)
        )
        assert abs(exact - total(own, COSTS["BilledCost"])) < Decimal(len(own)).scaleb(-18)
        assert [line["EffectiveCost"] for line in mine] == [
            line["BilledCost"] for line in mine
        ]  # no commitment in them
    for basis, cost in (("effective", "BilledCost"), ("list", "ListCost")):
        making.put(tmp_path / "policy.yaml", POLICY.format(basis=basis))
        project = apportion.open_project(tmp_path)
        for month, names in (("2023-11", list(FILES)[:1]), ("2026-10", list(FILES)[1:])):
            expected = sum((total(rows[name], COSTS[cost]) for name in names), Decimal(0))
            planned = apportion.plan(project, month)
            assert posted(planned.plan.postings.to_pylist()) == expected
            if basis == "effective":
                apportion.apply(project, month, made=planned.plan)
                assert posted(project.books.posted(month).to_pylist()) == expected


def posted(postings: list[dict[str, Decimal]]) -> Decimal:
    return sum((posting["amount"] for posting in postings), Decimal(0))


def test_the_samples_split_follows_awss_weights() -> None:
    path = sample("SYNTHETIC_cur2_with_eks_gpu_split.parquet")
    rows = pq.read_table(path).to_pylist()
    parents = {
        (row["line_item_resource_id"], row["line_item_usage_start_date"]): row
        for row in rows
        if row["line_item_operation"] == "RunInstances"
    }
    for row in rows:
        if row["split_line_item_parent_resource_id"]:
            parent = parents[row["split_line_item_parent_resource_id"], row["line_item_usage_start_date"]]
            product = dict(parent["product"])
            cost = Fraction(str(parent["line_item_unblended_cost"]))
            of = unit_costs(cost, *(Fraction(product[key].split()[0]) for key in ("vcpu", "memory", "gpu")))
            expected = of[kind_of(row["line_item_usage_type"])] * Fraction(str(row["split_line_item_split_usage"]))
            assert abs(float(expected) - row["split_line_item_split_cost"]) < 1e-12


def test_the_sample_split_among_pods_adds_up_to_the_same_bill(tmp_path: Path) -> None:
    path = sample("SYNTHETIC_cur2_with_eks_gpu_split.parquet")
    making.put(tmp_path / path.name, path.read_bytes())
    found = making.read("aws", tmp_path, path=path.name, split="pods")
    rows = rows_of(path)
    for cost in ("BilledCost", "ListCost"):
        assert making.total(found, cost) == total(rows, COSTS[cost])
    pods = [line for line in making.lines(found) if line["AllocatedResourceId"]]
    assert sum(line["EffectiveCost"] for line in pods) == total(rows, ("split_line_item_split_cost",))
