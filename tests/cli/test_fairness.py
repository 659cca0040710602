"""`report fairness`, on projects that can be checked by hand."""

import csv
import io
from pathlib import Path

import apportion
from tests.cli.conftest import Run
from tests.cli.test_explain import tamper
from tests.cli.tiny import edit, write_tiny

TEAMS = [f"team-{n:02d}" for n in range(15)]


def test_the_tiny_project_by_hand(run: Run, posted: Path) -> None:
    """vision holds 4 GPUs, then speech 8, then somebody 1: never at once, so the steps up to the peak of 8 are shared by who needs them.

    The first GPU by three, the next three by two, the last four by speech: 1/3, 11/6 and 35/6 of 8, that is 10, 55 and 175 of 240.
    Capacity is 8, so that nothing is idle above the peak.
    """
    value = run("--project", posted, "report", "fairness", "-o", "json").value()
    assert [(row["owner"], row["posted"], row["instead"], row["change"]) for row in value["rows"]] == [
        ("speech", "60", "175", "115"),
        ("vision", "60", "55", "-5"),
        ("_idle", "117.5", "0", "-117.5"),
        ("_unallocated", "2.5", "10", "7.5"),
    ]
    assert value["title"] == (
        "By peak Shapley 122.50 USD would move: 45.4 % of the bill of 270.00 USD for 2026-10, 51.0 % of the 240.00 USD that can be compared. "
        "117.50 USD of it would leave _idle for those who made the peaks; with _idle as posted, 31.93 USD would move between owners (11.8 % of the bill)."
    )
    assert value["not_compared"] == {"rest": "shared by cost, not by metered usage"}
    assert value["pools"][0]["exact"] is True


def test_a_pool_that_is_shared_by_peak_shapley_has_nothing_to_move(run: Run, posted: Path) -> None:
    edit(posted / "policy.yaml", "method: capacity_rate", "method: peak_shapley")
    for verb in ("plan", "apply"):
        assert run("--project", posted, verb).code == 0
    shown = run("--project", posted, "report", "fairness")
    assert shown.out.startswith("By peak Shapley 0.00 USD would move: 0.0 % of the bill")


def test_bursts_lending_and_recovery_are_on_the_posted_side(run: Run, posted: Path) -> None:
    """vision has 4 GPUs all day (120.00) and uses them for half of it; speech bursts to 8 for 6 h at 2.00 a GPU-hour, somebody to 1 for 2 h.

    Half of speech's 48 GPU-hours are lent by vision. By peak Shapley it is the same airport as ever.
    """
    edit(posted / "policy.yaml", "method: capacity_rate\n    idle: central", 'method: two_part\n    burst_price: "2"')
    edit(
        posted / "policy.yaml",
        "pools:\n",
        "reservations: [{team: vision, pool: gpu, meter: gpu, amount: 4, from: 2026-10-01}]\npools:\n",
    )
    for verb in ("plan", "apply"):
        assert run("--project", posted, verb).code == 0
    value = run("--project", posted, "report", "fairness", "-o", "json").value()
    rows = {row["owner"]: row for row in value["rows"]}
    assert {owner: (row["posted"], row["instead"]) for owner, row in rows.items()} == {
        "vision": ("72", "55"),
        "speech": ("96", "175"),
        "_idle": ("87.5", "0"),
        "_unallocated": ("4", "10"),
        "_residual": ("-19.5", "0"),
    }
    assert (rows["vision"]["usage"], rows["vision"]["idle"], rows["vision"]["credit"]) == ("60", "60", "-48")
    assert rows["speech"]["burst"] == "96"


def test_above_fourteen_teams_the_seed_and_the_errors_are_shown(run: Run, tmp_path: Path) -> None:
    """Fifteen teams, each alone with as many GPUs as its number: the same airport, estimated."""
    folder = write_tiny(tmp_path / "many")
    jobs = [
        f"j{n},j{n},{team},ann,n1,2026-10-01T{n:02d}:00:00Z,2026-10-01T{n + 1:02d}:00:00Z,{1 + n % 8},COMPLETED"
        for n, team in enumerate(TEAMS)
    ]
    (folder / "usage/jobs.csv").write_text(
        "job,run,team,user,node,start,end,gpus,state\n" + "\n".join(jobs) + "\n", "utf-8"
    )
    names = "\n".join(f"  {team}: {{department: research}}" for team in TEAMS)
    edit(folder / "policy.yaml", "teams:\n", f"teams:\n{names}\n")
    for verb in ("ingest", "plan", "apply"):
        assert run("--project", folder, verb).code == 0
    value = run("--project", folder, "report", "fairness", "--by", "pool", "-o", "json").value()
    (pool,) = value["pools"]
    assert (pool["exact"], pool["orders"]) == (False, 2000)
    assert pool["seeds"][0].startswith("2026-10 ")
    assert 0 < float(pool["largest_standard_error"]) < 0.01
    exact = airport({team: 1 + n % 8 for n, team in enumerate(TEAMS)})
    for row in value["rows"]:
        if row["owner"] in exact:
            assert abs(float(row["instead"]) / 240 - exact[row["owner"]]) < 5 * float(row["standard_error"])
    assert "standard errors up to" in run("--project", folder, "report", "fairness").out


def airport(peaks: dict[str, int]) -> dict[str, float]:
    """Each step up to the peak, in equal parts by those who need it; as parts of the peak."""
    shares = dict.fromkeys(peaks, 0.0)
    for level in range(max(peaks.values())):
        needing = [team for team, peak in peaks.items() if peak > level]
        for team in needing:
            shares[team] += 1 / len(needing) / max(peaks.values())
    return shares


def test_flows_lists_and_fixed_shares_are_not_compared(run: Run, posted: Path) -> None:
    edit(
        posted / "policy.yaml",
        "pools:\n",
        'pools:\n  cards: {usage: {node: n2}, meter: gpu, method: rate_card, prices: [{per: hour, price: "1"}]}\n',
    )
    edit(posted / "policy.yaml", "method: capacity_rate\n    idle: central", "method: proportional\n    slot: period")
    edit(posted / "policy.yaml", "meter: gpu\n    method", "meter: energy\n    method")
    for verb in ("plan", "apply"):
        assert run("--project", posted, verb).code == 0
    shown = run("--project", posted, "report", "fairness")
    assert shown.out.startswith("No pool of 2026-10 can be compared with peak Shapley.")
    assert "gpu (energy is a flow, which has no peak)" in shown.out
    assert "cards (charged by a price list)" in shown.out


def test_csv_has_every_digit_and_adds_up(run: Run, posted: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run("--project", posted, "report", "fairness", "-o", "csv").out)))
    assert {row["owner"]: row["instead"] for row in rows} == {
        "speech": "175",
        "vision": "55",
        "_idle": "0",
        "_unallocated": "10",
    }


def test_only_a_posted_month(run: Run, posted: Path, tiny: Path) -> None:
    assert "nothing is posted for 2026-09" in run("--project", posted, "report", "fairness", "--period", "2026-09").err
    assert run("--project", tiny, "report", "fairness").code == 1


def test_a_record_that_is_not_what_its_inputs_say_is_no_ground(run: Run, posted: Path) -> None:
    tamper(posted, "UPDATE entries SET amount = '61' WHERE team = 'vision' AND pool = 'gpu'")
    assert run("--project", posted, "report", "fairness").code == 5


def test_the_same_in_python(posted: Path) -> None:
    report = apportion.fairness(apportion.open_project(posted), "2026-10", by="pool")
    assert report.to_arrow().column_names[:3] == ["currency", "pool", "owner"]
