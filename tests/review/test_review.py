"""The review of a posted month with everything planted: figures added up from its jobs in plain Python, and every draft tried."""

from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import apportion
from apportion.errors import ApportionError
from apportion.policy.load import load_policy
from apportion.reports.review.finding import Pattern
from apportion.reports.review.review import Review
from apportion.verbs.draft import drafts, policy_text
from apportion.verbs.project import Project
from apportion.verbs.review import save_draft
from tests.cli.tiny import edit
from tests.review import world
from tests.review.world import BEFORE, DAYS, MODELS, NOW, Job, jobs

FOUND = [
    *(f"drift:{name}" for name in ("team", "gpu_model", "phase", "framework", "outcome")),
    "owners:new", "owners:vanished", "unmapped:account=speech-lab", "unmapped:account=xq17", "season:flat", "peaky:flat", "idle:flat",
    "dominant:flat:vision", "weight:flat:phase:inference", "weight:mixed:gpu.model:H*",
]  # fmt: skip
READY = {
    "unmapped:account=speech-lab",
    "peaky:flat",
    "idle:flat",
    "weight:flat:phase:inference",
    "weight:mixed:gpu.model:H*",
}
KINDS: dict[str, Callable[[Job], str]] = {
    "team": lambda job: job.account if not job.account.startswith(("speech-", "xq")) else "_unallocated",
    "gpu_model": lambda job: MODELS[job.node][0],
    "phase": lambda job: job.phase,
    "framework": lambda job: job.framework,
    "outcome": lambda job: job.outcome,
}


def finding(made: Review, key: str) -> Pattern:
    return next(one.finding for one in made.found if one.finding.key == key)


def held(month: str, kind: Callable[[Job], str]) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for _, job in jobs(month):
        sums[kind(job)] += job.held
    return sums


def posted(project: Project, month: str, **wanted: str) -> Fraction:
    rows = project.books.believed(month).to_pylist()
    return sum(
        (Fraction(row["amount"]) for row in rows if all(row[key] == value for key, value in wanted.items())),
        Fraction(0),
    )


def test_everything_that_was_planted_is_found_and_nothing_else(made: Review) -> None:
    assert [one.finding.key for one in made.found] == FOUND
    assert {one.finding.key for one in made.found if one.diff} == READY
    assert made.title == "15 findings in 2026-10 against 2026-09, 5 drafts ready."


def test_a_quiet_month_has_nothing_to_say(planted: Project) -> None:
    quiet = apportion.review(planted, BEFORE)
    assert (quiet.found, quiet.before) == ((), "")
    assert quiet.title == "Nothing in 2026-09 calls for a change."
    assert quiet.notes == (
        "Nothing is posted for 2026-08, so nothing is said about drift, and about owners that are new or vanished.",
    )


@pytest.mark.parametrize("dimension", KINDS)
def test_hours_of_a_drift_are_those_of_the_jobs(made: Review, dimension: str) -> None:
    now, before = (held(month, KINDS[dimension]) for month in (NOW, BEFORE))
    rows = {str(row[0]): row[1:] for row in finding(made, f"drift:{dimension}").rows}
    assert set(rows) == {*now, *before}
    for name, cells in rows.items():
        hours = [Fraction(one.get(name, 0)) for one in (now, before)]
        shares = [hours[n] / sum(one.values()) for n, one in enumerate((now, before))]
        assert [Fraction(Decimal(str(cell))) for cell in cells[:2]] == hours
        assert [str(cell) for cell in cells[2:4]] == [f"{float(share):.6f}" for share in shares]


def test_money_of_a_drift_is_what_was_posted(made: Review, planted: Project) -> None:
    rows = finding(made, "drift:team").rows
    for team, *cells in rows:
        assert Fraction(Decimal(str(cells[4]))) == posted(planted, NOW, team=str(team), reason="usage")
        assert Fraction(Decimal(str(cells[5]))) == posted(planted, BEFORE, team=str(team), reason="usage")


def test_money_of_owners_and_pools_is_what_was_posted(made: Review, planted: Project) -> None:
    wanted = {
        "owners:new": posted(planted, NOW, team="chem"),
        "owners:vanished": posted(planted, BEFORE, team="bio"),
        "peaky:flat": posted(planted, NOW, pool="flat"),
        "dominant:flat:vision": posted(planted, NOW, pool="flat", team="vision"),
    }
    for key, amount in wanted.items():  # a month is whole cents
        assert abs(Fraction(finding(made, key).amount or 0) - amount) < Fraction(1, 100), key
    nobodys = [Fraction(finding(made, key).amount or 0) for key in FOUND if key.startswith("unmapped")]
    assert sum(nobodys) == posted(planted, NOW, team="_unallocated")


def levels() -> list[int]:
    """GPUs of the flat pool that were held, hour by hour."""
    own = [(day, job) for day, job in jobs(NOW) if job.node == "n1"]
    return [
        sum(job.gpus for day_, job in own if day_ == day and job.hours[0] <= hour < job.hours[1])
        for day in DAYS
        for hour in range(24)
    ]


def test_the_profile_is_that_of_the_hours(made: Review) -> None:
    found, hours = levels(), [hour for _ in DAYS for hour in range(24)]
    night = sum(level for level, hour in zip(found, hours, strict=True) if hour < 7 or hour >= 20)
    _, _, mean, p95, peak, ratio, at_night, _, bursts, longest = made.profiles[0]
    assert [mean, peak] == [Decimal(f"{sum(found) / len(found):.6f}"), max(found)]
    assert p95 == sorted(found)[319]
    assert ratio == Decimal(f"{max(found) * len(found) / sum(found):.6f}")
    assert at_night == Decimal(f"{night / sum(found):.6f}")
    assert (bursts, longest) == (14, 5)
    stood = 8 * 24 * len(DAYS) - sum(found)
    assert f"stood idle ({stood:,} of {8 * 24 * len(DAYS):,} GPU-hours)" in finding(made, "idle:flat").sentence


def test_the_suggested_weight_is_that_of_the_jobs(made: Review) -> None:
    own = [job for _, job in jobs(NOW) if job.node == "n1"]
    done = {
        serves: sum(job.used * job.held for job in own if (job.phase == "inference") is serves)
        / sum(job.held for job in own if (job.phase == "inference") is serves)
        for serves in (True, False)
    }
    row = finding(made, "weight:flat:phase:inference").rows[1]
    assert float(str(row[1])) == pytest.approx(done[True] / done[False], abs=1e-5)
    counts = [sum((job.phase == "inference") is serves for job in own) for serves in (True, False)]
    assert list(row[-2:]) == counts


def test_every_draft_loads_plans_and_moves_money_without_losing_any(made: Review, planted: Project) -> None:
    text, state = policy_text(planted), planted.books.state()
    for one in made.found:
        if not one.diff:
            continue
        changed = {line[0] for line in one.diff.split("\n") if line[:1] in "+-" and line[:3] not in ("+++", "---")}
        assert changed <= {"+", "-"}
        assert load_policy(one.text).version != planted.policy.version
        effect = apportion.whatif(planted, NOW, one.text)
        assert sum(Fraction(row.change) for row in effect.rows) == 0
        assert any(row.change for row in effect.rows)
    assert (policy_text(planted), planted.books.state()) == (text, state)


def test_a_draft_keeps_remarks_and_changes_its_number_only(made: Review, planted: Project) -> None:
    old = policy_text(planted).splitlines()
    for key, was, then in (
        ("weight:flat:phase:inference", "1.25", "0.23"),
        ("weight:mixed:gpu.model:H*", "1.2", "2.5"),
    ):
        new = next(one.text for one in made.found if one.finding.key == key).splitlines()
        (place,) = [n for n, line in enumerate(old) if line != new[n]]
        assert (len(new), new[place]) == (len(old), old[place].replace(was, then))


def test_a_saved_draft_waits_and_changes_nothing_else(own: Path) -> None:
    project = apportion.open_project(own)
    text = policy_text(project)
    saved = save_draft(project, NOW, "unmapped:account=xq17", "vision")
    assert [(one.number, one.status) for one in drafts(project)] == [(1, "open")]
    assert saved.draft.why.startswith("No owner rule finds 14 workloads with account xq17")
    assert '- {when: {account: "xq17"}, team: vision}' in saved.draft.text
    assert saved.effect.title.startswith("72.65 USD of 2026-10 would move")
    assert policy_text(project) == text
    assert not [run for run in project.books.runs() if run.kind != "plan"]


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("peaky:flatt", ("unknown-finding", "did you mean 'peaky:flat'?")),
        ("owners:new", ("no-draft", "no change of the policy follows")),
        ("unmapped:account=xq17", ("no-draft", "--team")),
    ],
)
def test_what_has_no_draft_is_refused(
    planted: Project, monkeypatch: pytest.MonkeyPatch, made: Review, key: str, told: tuple[str, str]
) -> None:
    monkeypatch.setattr("apportion.verbs.review.review", lambda *_: made)  # computed once for all
    with pytest.raises(ApportionError) as error:
        save_draft(planted, NOW, key)
    assert error.value.code == told[0]
    assert told[1] in f"{error.value.message} {error.value.hint}"
    assert not drafts(planted)


def test_bounds_of_the_settings_count_and_an_answer_in_the_file_is_no_draft_any_more(own: Path) -> None:
    settings = "[review]\ndrift = 90\nleast = 50\nseason = 1\npeak = 300\nidle = 60\nshare = 60\nweight = 200\n"
    (own / "apportion.toml").write_text(f"{world.SETTINGS}\n{settings}", "utf-8")
    edit(own / "policy.yaml", "method: proportional", "method: time")
    made = apportion.review(apportion.open_project(own), NOW)
    assert [(one.finding.key, one.diff) for one in made.found] == [("idle:flat", "")]


@pytest.mark.parametrize(
    ("line", "code"), [("drift = 0", "invalid-setting"), ("peek = 3", "unknown-key"), ('idle = "30"', "wrong-kind")]
)
def test_wrong_bounds_are_refused_with_their_line(tmp_path: Path, line: str, code: str) -> None:
    (tmp_path / "apportion.toml").write_text(f"[project]\n\n[review]\n{line}\n", "utf-8")
    with pytest.raises(ApportionError) as error:
        apportion.open_project(tmp_path)
    assert (error.value.code, error.value.where.endswith("apportion.toml:4")) == (code, True)
