"""What check and plan say in a sentence, though it stops nothing."""

from pathlib import Path

from tests.cli.conftest import Run
from tests.cli.tiny import edit

CAP = 'adjustments: [{team: vision, cap: 10, sponsor: speech, why: "a try"}]\n'
OTHERS = "cap hold for money in USD alone; bills in EUR stay as they are without `fx`"


def checks(run: Run, folder: Path) -> list[tuple[str, str, str]]:
    found = run("--project", folder, "check", "-o", "json").value()["checks"]
    return [(one["status"], one["what"], one["text"]) for one in found]


def test_check_names_teams_that_owe_and_are_not_declared(run: Run, sound: Path) -> None:
    edit(sound / "usage/jobs.csv", "j1,j1,vision", "j1,j1,zzz")
    run("--project", sound, "ingest")
    (told,) = [one for one in checks(run, sound) if one[1] == "teams"]
    assert told == ("note", "teams", "teams that owe and are not declared: zzz 75.00 USD")
    edit(sound / "policy.yaml", "teams:\n", 'teams:\n  zzz: {cost_centre: "3"}\n')
    assert not [one for one in checks(run, sound) if one[1] == "teams"]


def test_a_cap_that_a_bill_in_another_currency_never_meets_is_noted(run: Run, sound: Path) -> None:
    edit(sound / "policy.yaml", "pools:\n", CAP + "pools:\n")
    run("--project", sound, "ingest")
    assert not [one for one in checks(run, sound) if OTHERS in one[2]]
    (sound / "bills/acme.csv").write_text((sound / "bills/acme.csv").read_text("utf-8").replace("USD", "EUR"), "utf-8")
    run("--project", sound, "ingest")
    assert [one[:2] for one in checks(run, sound) if OTHERS in one[2]] == [("note", "policy")]
    assert OTHERS in " ".join(run("--project", sound, "plan", "--period", "2026-10").out.split())
