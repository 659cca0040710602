"""How evenly a policy prices units, and what it rewards: against plain sums."""

from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from statistics import correlation, mean

import pytest

import apportion
from apportion.errors import ApportionError
from apportion.reports.evenness import gini, pearson, spearman
from apportion.reports.incentives import Incentive
from apportion.verbs.backtest import Wanted
from apportion.verbs.draft import policy_text
from apportion.verbs.incentives import Tempted
from apportion.verbs.project import Project

MONTH = "2026-10"
NEAR = Fraction(1, 10**6)
HELD = "    idle: {unsold: central, reserved: holder, held: holder, down: central}\n"
DISKS = 31 * Fraction("41.13")
TEAMS = ("vision", "speech", "zebra")


def near(found: Decimal | None, expected: float | Fraction) -> bool:
    return found is not None and abs(Fraction(found) - Fraction(expected)) <= NEAR


def test_gini_and_correlations_are_those_of_the_books() -> None:
    prices = [Fraction(n) for n in (3, 9, 1, 1, 6)]
    apart = mean(abs(one - two) for one in prices for two in prices)
    assert near(gini(prices), apart / (2 * mean(prices)))
    assert gini([Fraction(2)] * 4) == 0
    assert gini([Fraction(2)]) is None
    others = [Fraction(n) for n in (5, 4, 4, 0, 11)]
    assert near(pearson(prices, others), correlation([float(n) for n in prices], [float(n) for n in others]))
    ranks = [2.0, 4.0, 0.5, 0.5, 3.0], [3.0, 1.5, 1.5, 0.0, 4.0]
    assert near(spearman(prices, others), correlation(*ranks))
    assert near(spearman(prices, [-(n**3) for n in prices]), -1)
    assert pearson(prices[:2], others[:2]) is None
    assert pearson(prices, [Fraction(1)] * 5) is None


def test_a_pool_that_is_shared_by_what_is_held_prices_all_alike(small: Project) -> None:
    made = apportion.backtest(small, MONTH, Wanted({"same": policy_text(small)}, fairness=True))
    disks, gpus = made.evenness
    assert made.variants[0].evenness == made.evenness
    assert (disks.pool, disks.owners, disks.measured) == ("disks", 3, 0)
    assert (disks.gini, disks.held_spearman) == (Decimal(0), Decimal(1))
    assert near(disks.held_pearson, 1)
    assert disks.used_pearson is None
    held, used, owed = (defaultdict[str, Fraction](Fraction) for _ in range(3))
    for row in small.books.scan("charges").to_pylist():
        if (row["period"], row["pool"]) == (MONTH, "gpus") and row["held"] is not None and row["team"] in TEAMS:
            held[row["team"]] += Fraction(row["held"])
            used[row["team"]] += Fraction(row["used"])
    for row in small.books.believed(MONTH).to_pylist():
        if row["pool"] == "gpus":
            owed[row["team"]] += Fraction(row["amount"])
    prices = [owed[team] / held[team] for team in TEAMS]
    assert near(gpus.gini, mean(abs(one - two) for one in prices for two in prices) / (2 * mean(prices)))
    paid, had = [float(owed[team]) for team in TEAMS], [float(held[team]) for team in TEAMS]
    assert near(gpus.held_pearson, correlation(paid, had))
    assert near(gpus.used_pearson, correlation(paid, [float(used[team]) for team in TEAMS]))
    assert (gpus.owners, gpus.measured, gpus.unit) == (3, 3, "GPU")


Rows = dict[tuple[str, ...], Incentive]
OTHERS = {
    "credit": HELD + "    credit: [{outcome: completed, percent: 50, max_hours: 2, paid_by: platform}]\n",
    "hours": '    method: time_of_use\n    times: [{from: "00:00", until: "12:00", weight: 3}]\n',
    "use": "    method: proportional\n    driver: used\n",
}


def tempted(project: Project, texts: dict[str, str], *teams: str) -> Rows:
    """By policy, team, the deed's first word and pool."""
    rows = apportion.backtest(project, MONTH, Wanted(texts, tempted=Tempted(teams))).incentives
    assert {row.policy for row in rows} == {"posted", *texts}
    return {(row.policy, row.team, row.deed.split()[0], row.pool): row for row in rows}


@pytest.fixture(scope="module")
def others(small: Project) -> Rows:
    """What vision could do under other policies."""
    old = {"credit": HELD, "hours": "    method: capacity_rate\n" + HELD, "use": "    method: capacity_rate\n" + HELD}
    texts = {name: policy_text(small).replace(old[name], new) for name, new in OTHERS.items()}
    return tempted(small, texts, "vision")


def test_asking_for_more_costs_what_it_takes_from_others(small: Project) -> None:
    rows = {key[1:]: row for key, row in tempted(small, {}).items()}
    assert {team for team, _, _ in rows} == set(TEAMS)
    shares = {"vision": 5, "speech": 2, "zebra": 3}
    for team, share in shares.items():
        disks = rows[team, "asks", "disks"]
        more = Fraction(share) * 11 / 10
        assert near(disks.change, DISKS * (more / (10 - share + more) - Fraction(share, 10)))
        first = max(set(shares) - {team}, key=shares.__getitem__)
        assert (disks.verdict, disks.bearer) == ("costs", first)
        assert near(disks.borne, -Fraction(disks.change) * shares[first] / (10 - share))
    gpus = rows["vision", "asks", "gpus"]
    assert near(gpus.change, Fraction(gpus.owed) / 10)
    assert (gpus.bearer, gpus.borne) == ("_idle", -gpus.change)
    whole = rows["vision", "asks", ""]
    assert whole.change == sum(
        row.change for row in rows.values() if row.team == "vision" and row.deed == whole.deed and row.pool
    )
    assert rows["vision", "splits", ""].verdict == "no difference"
    assert rows["vision", "moves", ""].verdict == "no difference"


def test_credit_for_the_last_hours_rewards_who_splits_a_job(others: Rows) -> None:
    split = others["credit", "vision", "splits", "gpus"]
    hour = (Fraction("384.37") + Fraction("399.99")) / 24 / 16
    assert near(split.change, -hour * 2 / 2)
    assert (split.verdict, split.bearer, split.job) == ("pays", "platform", "11001")
    assert near(split.borne, -Fraction(split.change))


def test_cheaper_hours_reward_who_moves_a_job_there(others: Rows) -> None:
    moved = others["hours", "vision", "moves", "gpus"]
    assert (moved.verdict, moved.change < 0, moved.bearer in ("zebra", "speech")) == ("pays", True, True)
    assert moved.job.startswith("11001 to 2026-10-")
    assert moved.job[-5:] in ("11:00", "12:00")  # half of the night is left
    assert others["hours", "vision", "asks", ""].verdict == "costs"


def test_by_use_nobody_minds_what_is_asked_for(others: Rows) -> None:
    assert ("use", "vision", "asks", "gpus") not in others
    assert others["use", "vision", "asks", "disks"].verdict == "costs"


def test_a_team_without_jobs_cannot_be_tempted(small: Project) -> None:
    with pytest.raises(ApportionError, match="'vison' has no job in 2026-10") as told:
        tempted(small, {}, "vison")
    assert told.value.code == "unknown-team"
    assert "vision" in told.value.hint
