"""`apportion estimate`: what it does to budgets and quotas, exit codes, and what it refuses."""

from pathlib import Path

import pytest

import apportion
from tests.cli.conftest import Run, posted, posted_once  # noqa: F401 - fixtures

ASKED = ("--team", "vision", "--gpus", "4", "--model", "h100", "--hours", "6", "--start", "2026-11-05T13:00")


def test_it_says_price_range_and_ways(run: Run, small_once: Path) -> None:
    shown = run("--project", small_once, "estimate", *ASKED)
    assert shown.code == 0
    assert shown.out.startswith("4 GPUs (NVIDIA-H100-80GB) for 6 hours would cost vision ")
    assert "direct 48.00 USD, with idle 192.00 USD, with overhead " in shown.out
    assert "the least and the most of 19 starts in 2026-10 and the mean prices of 1 other month." in shown.out
    assert "with qos=preemptible" in shown.out
    value = run("--project", small_once, "estimate", *ASKED, "-o", "json").value()
    assert (value["direct"], value["basis"], value["currency"]) == ("48", "such hours", "USD")
    assert {way["way"] for way in value["cheaper"]} >= {"starting Thu 00:00", "with qos=preemptible"}
    assert value["range"]["starts"] == 19


def test_the_quota_and_the_budget_that_hold_then(run: Run, own: Path) -> None:
    value = run("--project", own, "estimate", *ASKED, "-o", "json").value()
    assert [(one["what"], one["window"], one["used"], one["adds"], one["left"]) for one in value["effects"]] == [
        ("quota of vision, gpu", "2026-11", "0", "24", "76")
    ]
    price = value["price"]
    apportion.set_budget(apportion.open_project(own), "vision", "5000", "2026-11")
    apportion.set_budget(apportion.open_project(own), "vision/other", "1", "2026-11")
    value = run("--project", own, "estimate", *ASKED, "--within-budget", "-o", "json").value()
    budget = next(one for one in value["effects"] if one["what"].startswith("budget"))
    assert (budget["limit"], budget["used"], budget["adds"], budget["exceeded"]) == ("5000", "0", price, False)


def test_within_budget_is_an_exit_code_for_scripts(run: Run, own: Path) -> None:
    apportion.set_budget(apportion.open_project(own), "vision", "100", "2026-11")
    assert run("--project", own, "estimate", *ASKED).code == 0
    refused = run("--project", own, "estimate", *ASKED, "--within-budget")
    assert refused.code == 1
    assert "exceeded" in refused.out
    assert run("--project", own, "estimate", *ASKED[:-3], "1", *ASKED[-2:], "--within-budget").code == 0


def test_one_flat_month_has_no_range(run: Run, posted: Path) -> None:  # noqa: F811
    """The tiny world: 1.25 a GPU-hour all day, idle with nobody, 30.00 of support on 120.00."""
    shown = run("--project", posted, "estimate", "--team", "vision", "--gpus", "2", "--hours", "3")
    assert "2 GPUs for 3 hours would cost vision 9.38 USD." in shown.out  # 7.50 and a quarter of it
    assert (
        "Only one price is known, that of 2026-10, and it was the same throughout: there is no range to tell."
        in shown.out
    )
    assert "The books and the policy know no cheaper way." in shown.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--team", "visio", "--gpus", "1", "--hours", "1"), "error[unknown-owner]: 'visio' is no team\n  hint: did you mean 'vision'?"),
        (("--team", "vision", "--gpus", "1", "--hours", "1", "--model", "h200"), "error[unknown-model]: no node has GPUs of the model 'h200'"),
        (("--team", "vision", "--gpus", "1", "--hours", "1"), "such a job may fall to 2 pools: big, small"),
        (("--team", "vision", "--gpus", "1", "--hours", "1", "--pool", "bigg"), "error[unknown-figure]: 'bigg' is no pool"),
        (("--team", "vision", "--gpus", "-1", "--hours", "1"), "error[negative-amount]: gpus is -1"),
        (("--team", "vision", "--gpus", "1", "--hours", "-2"), "error[negative-amount]: hours is -2"),
        (("--team", "vision", "--hours", "1"), "error[nothing-held]"),
        (("--team", "vision", "--gpus", "many", "--hours", "1"), "error[invalid-number]"),
        (("--team", "vision", "--gpus", "1", "--hours", "1", "--start", "noon"), "error[invalid-time]"),
        (("--team", "vision", "--gpus", "1", "--hours", "1", "--label", "qos"), "error[invalid-filter]"),
        (("--team", "vision", "--gpus", "1", "--hours", "1", "--pool", "cpu"), "error[no-pool]"),
    ],
)  # fmt: skip
def test_what_is_refused(run: Run, small_once: Path, arguments: tuple[str, ...], said: str) -> None:
    shown = run("--project", small_once, "estimate", *arguments)
    assert (shown.code, shown.out) == (1, "")
    assert said in shown.err
