"""The plan from what Slurm 22.05.8 prints, cut to what matters: every change with its command, and every way past it with a warning."""

from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

import apportion
from apportion.errors import ApportionError
from apportion.reports.quotas import Limit, Used
from apportion.verbs.enforce import enforceable, kept
from apportion.verbs.enforcing.planning import Plan, is_done, is_due, plan_of_text, planned, qos_name, undoing
from apportion.verbs.enforcing.slurm import Standing, relisted, standing_of
from apportion.verbs.enforcing.telling import rung_said, settings_of
from apportion.verbs.standing import standing
from tests.enforce.world import HELD, TODAY, make, with_quota

CONFIG = {
    "ClusterName": "lab",
    "AccountingStorageEnforce": "associations,limits,qos,safe",
    "AccountingStorageTRES": "cpu,mem,energy,node,billing,fs/disk,vmem,pages,gres/gpu,gres/gpu:a100,gres/gpu:h100,gres/shard",
    "PriorityType": "priority/multifactor",
    "PriorityDecayHalfLife": "7-00:00:00",
}
COUNTS = "cpu=N(9),mem=N(100),billing=N(9),gres/gpu={gpu},gres/gpu:a100=N(77),gres/gpu:h100=N(0)"
MANAGER = "Current Association Manager state\nQOS Records\n" + "".join(
    f"QOS={name} UsageRaw=0.000000 GrpJobs=N(0) GrpSubmitJobs=N(0) GrpWall=N(0.00) GrpTRES={COUNTS.format(gpu='N(3)')} "
    f"GrpTRESMins={COUNTS.format(gpu=gpu)} GrpTRESRunMins={COUNTS.format(gpu='N(5)')} MaxWallPJ= Priority=0 Account Limits=No Accounts\n"
    for name, gpu in (("normal(1)", "N(0)"), ("apportion-vision(4)", "20(12)"))
)
FRESH = {
    "qos": "normal|||||1.000000\nscavenger|||||0.500000\n",
    "own": "root||||normal\nroot|root|||\nresearch||||\nspeech||||\nvis-core||||\nvis-core|ann|||+scavenger\nvis-core|bo|||\n",
    "allowed": "root||normal\nroot|root|normal\nresearch||normal\nspeech||normal\nvis-core||normal\nvis-core|ann|normal,scavenger\nvis-core|bo|normal\n",
    "used": MANAGER.replace("apportion-vision(4)", "scavenger(2)"),
    "jobs": "",
}
SET = {
    **FRESH,
    "qos": FRESH["qos"] + "apportion-vision|DenyOnLimit,NoDecay|cpu=7,gres/gpu=20|gres/gpu=3|0|2.000000\n",
    "own": FRESH["own"].replace("vis-core||||\n", "vis-core||apportion-vision||+apportion-vision\n"),
    "allowed": FRESH["allowed"].replace("vis-core||normal", "vis-core||apportion-vision,normal"),
    "used": MANAGER,
    "jobs": "apportion-vision\napportion-vision\nnormal\n",
}
OWNERS = {"vis-core": "vision", "speech": "speech", "research": ""}


def used(gone: str, *warn: int, size: int = 400, team: str = "vision") -> Used:
    limit = Limit(team, "", "gpu", "", "GPU-hours", Fraction(size), "month", tuple(map(Fraction, warn)))
    return Used(limit, date(2026, 10, 1), date(2026, 10, 31), TODAY, Fraction(gone))


def commands(plan: Plan) -> list[str]:
    return [" ".join(words) for change in plan.changes for words in change.commands]


@pytest.fixture
def fresh() -> Standing:
    return standing_of(CONFIG, FRESH)


@pytest.fixture
def stands() -> Standing:
    return standing_of(CONFIG, SET)


def test_a_first_plan_makes_the_qos_and_gives_it_to_the_account(fresh: Standing) -> None:
    plan = planned([used("312.25")], OWNERS, fresh, TODAY)
    assert commands(plan) == [
        "add qos apportion-vision Flags=NoDecay GrpTRESMins=gres/gpu=5265",  # 87.75 h
        "modify account where name=vis-core set QOS+=apportion-vision",
        "modify account where name=vis-core set DefaultQOS=apportion-vision",
    ]
    assert plan.warnings == (
        "vision: ann of vis-core may pass with --qos=normal",
        "vision: bo of vis-core may pass with --qos=normal",
    )


def test_the_limit_is_what_slurm_counted_and_what_is_left_by_the_factor(stands: Standing) -> None:
    """12 minutes are counted; an hour that is left burns 120 of them at a factor of 2. What was capped and denied is lifted."""
    plan = planned([used("390")], OWNERS, stands, TODAY)
    assert plan.rungs[0].limit == 12 + 10 * 60 * 2
    assert commands(plan) == [
        "modify qos where name=apportion-vision set Flags=NoDecay GrpTRESMins=gres/gpu=1212 GrpTRES=gres/gpu=-1 GrpSubmitJobs=-1"
    ]


def test_what_is_used_up_leaves_nothing(stands: Standing) -> None:
    assert planned([used("500")], OWNERS, stands, TODAY).rungs[0].limit == 12


def test_the_quota_with_least_left_counts(fresh: Standing) -> None:
    plan = planned([used("10"), used("10", size=12), used("0", size=900)], OWNERS, fresh, TODAY)
    assert [rung.limit for rung in plan.rungs] == [120]


@pytest.mark.parametrize(
    ("gone", "rung", "settings"),
    [
        ("100", "free", ("NoDecay", "", "", "apportion-vision")),
        ("200", "warn", ("NoDecay", "", "", "apportion-vision")),
        ("240", "demote", ("NoDecay", "", "", "scavenger")),
        ("280", "cap", ("NoDecay", "1", "", "scavenger")),
        ("320", "deny", ("DenyOnLimit,NoDecay", "1", "", "scavenger")),
        ("360", "no submit", ("DenyOnLimit,NoDecay", "1", "0", "scavenger")),
    ],
)
def test_the_ladder_has_a_rung_for_each_mark(fresh: Standing, gone: str, rung: str, settings: tuple[str, ...]) -> None:
    plan = planned([used(gone, 50, 60, 70, 80, 90)], OWNERS, fresh, TODAY, "scavenger")
    qos, account = (dict(change.after or {}) for change in plan.changes)
    assert plan.rungs[0].name == rung
    assert (qos["Flags"], qos["GrpTRES=gres/gpu"], qos["GrpSubmitJobs"], account["DefaultQOS"]) == settings
    assert rung in rung_said(plan.rungs[0])


def test_the_cap_lasts_until_the_window_ends(fresh: Standing) -> None:
    """12 days of 24 hours remain: 5,000 hours are enough for 17 GPUs."""
    plan = planned([used("5000", 10, 20, 30, size=10_000)], OWNERS, fresh, TODAY)
    assert (plan.changes[0].after or {})["GrpTRES=gres/gpu"] == str(5000 // (12 * 24)) == "17"


def test_nobody_to_demote_to_is_said(fresh: Standing) -> None:
    for demote, why in (("", "no QOS is named by --demote"), ("slow", "there is no QOS slow")):
        assert (
            f"vision: {why}, so it is not demoted"
            in planned([used("399", 1, 2)], OWNERS, fresh, TODAY, demote).warnings
        )


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("AccountingStorageEnforce", "associations,limits,qos", "lacks safe"),
        ("AccountingStorageEnforce", "none", "lacks limits"),
        ("PriorityType", "priority/basic", "no limit is ever reached"),
        ("AccountingStorageTRES", "cpu,gres/gpu:a100", "lacks gres/gpu"),
    ],
)
def test_what_is_missing_is_said(setting: str, value: str, said: str) -> None:
    now = standing_of({**CONFIG, setting: value}, FRESH)
    assert said in " ".join(planned([used("1")], OWNERS, now, TODAY).warnings)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("vis-core|||gres/gpu:a100=5|", "account vis-core is limited by GPU type or billing alone"),
        ("vis-core|||billing=5|", "account vis-core is limited by GPU type or billing alone"),
        ("vis-core|||gres/gpu=5|", "account vis-core has GrpTRESMins of its own, whose count decays"),
    ],
)
def test_limits_that_are_there_already(row: str, said: str) -> None:
    now = standing_of(CONFIG, {**FRESH, "own": FRESH["own"].replace("vis-core||||\n", f"{row}\n")})
    assert said in " ".join(planned([used("1")], OWNERS, now, TODAY).warnings)


def test_a_user_with_a_list_of_their_own_is_named() -> None:
    now = standing_of(CONFIG, {**FRESH, "own": FRESH["own"].replace("+scavenger", "scavenger")})
    assert "ann of vis-core has a list of QOS of its own" in " ".join(planned([used("1")], OWNERS, now, TODAY).warnings)


def test_a_team_without_an_account_changes_nothing(fresh: Standing) -> None:
    plan = planned([used("1", team="robotics")], OWNERS, fresh, TODAY)
    assert not plan.changes
    assert plan.warnings == ("robotics: the policy gives it no account of lab, so nothing is enforced",)


def test_the_way_back(fresh: Standing, stands: Standing) -> None:
    first = planned([used("390", 1, 2)], OWNERS, fresh, TODAY, "scavenger")
    later = planned([used("395")], OWNERS, stands, TODAY)
    back = undoing([first, later], stands)
    assert commands(back) == [
        "modify account where name=vis-core set DefaultQOS=-1",
        "modify account where name=vis-core set QOS=",
        "delete qos apportion-vision",
    ]
    assert back.warnings == (
        "2 jobs of QOS apportion-vision would be left without it: cancel them or give them another first",
    )
    assert not undoing([first, later], fresh).changes
    assert [one.after for one in settings_of(back.changes)][-1] == "removed"


def test_a_qos_that_was_there_before_is_not_taken_away(stands: Standing) -> None:
    plan = planned([used("390")], OWNERS, stands, TODAY)
    after = standing_of(
        CONFIG, {**SET, "qos": FRESH["qos"] + "apportion-vision|NoDecay|cpu=7,gres/gpu=1212|||2.000000\n"}
    )
    assert all(is_done(change, after) and not is_due(change, after) for change in plan.changes)
    assert commands(undoing([plan], after)) == [
        "modify qos where name=apportion-vision set Flags=DenyOnLimit,NoDecay GrpTRESMins=gres/gpu=20 GrpTRES=gres/gpu=3 GrpSubmitJobs=0"
    ]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("", "+a", ["QOS+=a"]),
        ("+a", "", ["QOS="]),
        ("a,b", "a,b,c", ["QOS+=c"]),
        ("a,b,c", "a,b", ["QOS=a,b"]),
        ("+a,+b", "+b,-c", ["QOS=", "QOS+=b", "QOS-=c"]),
        ("a", "a", []),
    ],
)
def test_lists_of_qos_are_set_as_they_were(before: str, after: str, words: list[str]) -> None:
    assert list(relisted(before, after)) == words


def test_a_plan_is_its_text(fresh: Standing) -> None:
    plan = planned([used("390")], OWNERS, fresh, TODAY)
    again = plan_of_text(plan.text)
    assert (again.digest, again.changes) == (plan.digest, plan.changes)
    assert planned([used("391")], OWNERS, fresh, TODAY).digest != plan.digest


def test_names_are_those_of_slurm_and_never_shared() -> None:
    assert qos_name("vision") == "apportion-vision"
    assert len({qos_name(name) for name in ("Vision", "vision", "vi sion", "vi-sion")}) == 4


def test_only_what_the_policy_gives_to_slurm(tmp_path: Path) -> None:
    more = (
        "  - {team: speech, meter: gpu, hours: 5, per: month}\n"
        "  - {team: speech, money: 5, per: month, enforce: slurm}\n"
        "  - {team: speech, meter: gpu, pool: gpu, hours: 5, per: month, enforce: slurm}\n"
    )
    make(tmp_path)
    project = with_quota(tmp_path, "50", more=more)
    held, passed = enforceable(project.policy, standing(project, TODAY), TODAY)
    assert [(one.limit.team, one.used) for one in held] == [("vision", Fraction(HELD))]
    assert [text.partition(": ")[2] for text in passed] == [
        "its quota of money is not enforced: Slurm is told GPU-hours alone",
        "its quota of gpu of gpu is not enforced: a limit on a pool's type of GPU is passed by asking for no type",
    ]


def test_without_slurm_nothing_is_planned_and_nothing_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make(tmp_path)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ApportionError) as refused:
        apportion.enforce(project, today=TODAY)
    assert refused.value.code == "no-command"
    for digest in ("0" * 16, "../../x"):
        with pytest.raises(ApportionError) as refused:
            kept(project, digest)
        assert refused.value.code == "unknown-plan"
    assert not apportion.audit(project, ["enforce"])
