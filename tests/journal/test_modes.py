"""Who is charged, and who bears what nobody is charged for."""

from datetime import date

import pytest

from apportion.model.times import Period
from apportion.policy.diff import diff
from apportion.policy.document import Policy
from apportion.policy.load import load_policy
from apportion.policy.modes import Borne, borne_by, charged
from apportion.policy.version import content_version

HEAD = "policy: lab\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\n"
TEXT = (
    HEAD
    + """\
teams:
  vision: {mode: chargeback}
  speech: {mode: chargeback, from: 2027-01-02}
  bio: {mode: showback, from: 2027-01-01}
  ops: {mode: chargeback}
  lab: {}
carried_by: {_idle: ops, _residual: lab, showback: lab}
pools:
  gpus: {costs: {ServiceName: EC2}, meter: gpu}
  disks: {costs: otherwise, by: cost, mode: showback}
"""
)
DECEMBER, JANUARY, FEBRUARY = Period(2026, 12), Period(2027, 1), Period(2027, 2)


@pytest.fixture(scope="module")
def policy() -> Policy:
    return load_policy(TEXT)


@pytest.mark.parametrize(
    ("team", "months"),
    [
        ("vision", (True, True, True)),
        ("speech", (False, False, True)),  # the month's first day counts
        ("bio", (True, False, False)),  # before its `from` the other mode held
        ("lab", (False, False, False)),
        ("unheard of", (False, False, False)),
        ("_idle", (False, False, False)),
    ],
)
def test_a_team_is_charged_by_its_mode_on_the_first_day(
    policy: Policy, team: str, months: tuple[bool, bool, bool]
) -> None:
    assert tuple(charged(policy, month, team, "gpus") for month in (DECEMBER, JANUARY, FEBRUARY)) == months
    assert not any(charged(policy, month, team, "disks") for month in (DECEMBER, JANUARY, FEBRUARY))
    assert tuple(charged(policy, month, team, "") for month in (DECEMBER, JANUARY, FEBRUARY)) == months


@pytest.mark.parametrize(
    ("team", "pool", "borne"),
    [
        ("vision", "gpus", Borne("vision", charged=True)),
        ("vision", "disks", Borne("lab", charged=True)),
        ("lab", "gpus", Borne("lab", charged=True)),  # what it carries is its own too
        ("_idle", "gpus", Borne("ops", charged=True)),
        ("_idle", "disks", Borne("ops", charged=True)),
        ("_residual", "gpus", Borne("lab", charged=True)),
        ("_unallocated", "", Borne("", charged=False)),
    ],
)
def test_what_is_not_charged_goes_where_carried_by_says(policy: Policy, team: str, pool: str, borne: Borne) -> None:
    assert borne_by(policy, JANUARY, team, pool) == borne


def test_without_a_carrier_nobody_bears_it() -> None:
    policy = load_policy(HEAD + "teams: {vision: {}}\n")
    for team in ("vision", "_idle"):
        assert borne_by(policy, JANUARY, team, "gpus") == Borne("", charged=False)


def sentences(old: str, new: str) -> list[str]:
    return [change.sentence for change in diff(load_policy(HEAD + old), load_policy(HEAD + new))]


def test_a_change_of_mode_says_which_months_it_concerns() -> None:
    dated = "teams: {vision: {mode: chargeback, from: 2027-01-01}}\n"
    (mode, since) = diff(load_policy(HEAD + "teams: {vision: {}}\n"), load_policy(HEAD + dated))
    assert (mode.since, since.since) == (date(2027, 1, 1), date(2027, 1, 1))
    assert mode.sentence == (
        "teams.vision.mode is added: chargeback; months from 2027-01-01 on are charged by it unless they are closed"
    )
    pool = "pools: {rest: {costs: otherwise, by: cost%s}}\n"
    assert sentences(pool % "", pool % ", mode: showback") == [
        "pools.rest.mode is added: showback; months from 2026-10-01 on are charged by it unless they are closed"
    ]
    assert sentences(pool % "", pool % ", mode: chargeback") == [
        "pools.rest.mode is added: chargeback; no figure changes"
    ]
    turned = "teams: {vision: {mode: showback, from: 2027-01-01}}\n"
    assert diff(load_policy(HEAD + dated), load_policy(HEAD + turned))[0].since == date(2026, 10, 1)
    assert sentences("", "journal: {negative: kept}\n") == ["journal is added: {negative: kept}; no figure changes"]


def test_an_invoice_number_reads_as_its_template_says() -> None:
    said = load_policy(HEAD + 'statements: {number: "{{A}} {year}/{number} ({period})"}\n').statements
    assert said.numbered(42, Period(2026, 9)) == "{A} 2026/000042 (2026-09)"
    assert load_policy(HEAD).statements.numbered(1_234_567, Period(2026, 9)) == "1234567"


def test_the_order_of_clearing_accounts_counts() -> None:
    texts = [HEAD + f"journal: {{clearing: {{{globs}}}}}\n" for globs in ('"A*": "1", "*": "2"', '"*": "2", "A*": "1"')]
    assert len({content_version(load_policy(text).root) for text in texts}) == 2
