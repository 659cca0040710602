"""Journals of drawn minor units under drawn policies, read back from their text and held against sums that are taken another way."""

import random
import re
from collections import defaultdict
from collections.abc import Mapping
from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.errors import InvariantError
from apportion.model.minor import APART
from apportion.model.rows import POSTINGS
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.render.journal import render, shipped
from apportion.reports.journal import Entry, Kind, check, journal
from apportion.verbs.journal import places_of
from tests import snippets
from tests.journal import reading

OCTOBER = Period(2026, 10)
DIGITS = {"USD": 2, "JPY": 0, "KWD": 3, "gCO2e": 0}
TEAMS = ("vision", "speech, the", '=SUM("A1")', "ops")
POOLS = ("gpus", "disks", "")
COMPONENTS, REASONS = ("compute", "storage", "other"), ("usage", "idle", "credit")
OWNERS = (*TEAMS, "elsewhere", "_idle", "_unallocated", "_residual")
BILLS = ("AWS 2026-10", "AWS 2026-09", "Own\nhardware 2026-10")
CENTRES, DEPARTMENTS = ("", "4711", "4712"), ("", "research")
LABELS = (Kind("correction", "2026-09", "restated"), Kind("credit", why="agreed; with, ops"))

teams = st.fixed_dictionaries(
    {},
    optional={
        "mode": st.sampled_from(["showback", "chargeback"]),
        "from": st.sampled_from(["2026-09-30", "2026-10-01", "2026-10-02"]),
        "cost_centre": st.sampled_from(CENTRES[1:]),
        "department": st.sampled_from(DEPARTMENTS[1:]),
    },
)
policies = st.fixed_dictionaries({
    "policy": st.just("lab"), "effective": st.just("2026-01-01"), "currency": st.just("USD"), "time_zone": st.just("UTC"),
    "teams": st.fixed_dictionaries(dict.fromkeys(TEAMS, teams)),
    "carried_by": st.dictionaries(
        st.sampled_from(["_idle", "_unallocated", "_residual", "showback"]), st.sampled_from(TEAMS)
    ),
    "pools": st.fixed_dictionaries({
        "gpus": st.fixed_dictionaries({"costs": st.just({"a": "b"}), "by": st.just("cost")}, optional={"mode": st.just("showback")}),
        "disks": st.fixed_dictionaries({"costs": st.just("otherwise"), "by": st.just("cost")}, optional={"mode": st.just("chargeback")}),
    }),
    "journal": st.fixed_dictionaries({}, optional={
        "clearing": st.one_of(st.just("2400"), st.just({"AWS *": "2401", "*": "2402"}), st.just({"AWS *-10": "2403", "otherwise": "2404"})),
        "central": st.fixed_dictionaries({}, optional={"cost_centre": st.just("0"), "account": st.just("6900")}),
        "accounts": st.dictionaries(st.sampled_from([*COMPONENTS, "otherwise"]), st.sampled_from(["6100", "6200"])),
        "reasons": st.dictionaries(st.sampled_from(REASONS), st.sampled_from(["6100", "6300"])),
        "cost_centres": st.dictionaries(st.sampled_from([*TEAMS, "4711", "research"]), st.sampled_from(["CC-1", "CC-2"])),
        "negative": st.sampled_from(["turned", "kept"]),
    }),
})  # fmt: skip
keys = st.fixed_dictionaries({
    "bill": st.sampled_from(BILLS), "currency": st.sampled_from(sorted(DIGITS)), "cost_centre": st.sampled_from(CENTRES),
    "department": st.sampled_from(DEPARTMENTS), "team": st.sampled_from(OWNERS), "project": st.sampled_from(["", "p"]),
    "user": st.sampled_from(["", "u"]), "component": st.sampled_from(COMPONENTS), "pool": st.sampled_from(POOLS),
    "reason": st.sampled_from(REASONS), "cause": st.sampled_from(["", "unsold"]),
})  # fmt: skip
amounts = st.integers(-(10**13), 10**13).filter(bool)
rows_of = st.lists(
    st.tuples(keys, amounts, st.integers(0, 4)), max_size=10, unique_by=lambda row: tuple(row[0].values())
)


RUNS = {"2026-11-restated": LABELS[0], "credit-7": LABELS[1]}


def table_of(rows: list[Any]) -> pa.Table:
    """Minor units with the run that each is of; most are of a plan."""
    names = [*RUNS, "", "", ""]
    return pa.Table.from_pylist([{**key, "run": names[run], "amount": amount} for key, amount, run in rows], APART)


def made(document: dict[str, Any], rows: list[Any], documents: Mapping[tuple[str, str], str] = {}) -> tuple[Entry, ...]:
    """The policy's words are read in other tests; here parsing them would take all the time."""
    policy = Policy.model_validate(deepcopy(document))
    return journal("2026-10", table_of(rows), RUNS, places_of(policy, OCTOBER, documents))


def text_of(entries: tuple[Entry, ...]) -> str:
    return render(entries, OCTOBER, shipped())


def in_chargeback(document: dict[str, Any], team: str) -> bool:
    said = document["teams"].get(team, {})
    holds = said.get("from", "2026-01-01") <= "2026-10-01"
    return bool((said.get("mode", "showback") == "chargeback") == holds)


def expected(document: dict[str, Any], key: dict[str, str]) -> tuple[str, str, str]:
    """Team, cost centre and account of one row, as the reference has it."""
    said, own = document["journal"], in_chargeback(document, key["team"]) and key["team"] in document["teams"]
    pool = document["pools"].get(key["pool"], {}).get("mode", "chargeback")
    carrier = document["carried_by"].get(key["team"] if key["team"].startswith("_") else "showback", "")
    team = key["team"] if own and pool == "chargeback" else carrier
    central = {"cost_centre": "", "account": "central"} | said.get("central", {})
    if not team:
        return "", central["cost_centre"], central["account"]
    place = key if team == key["team"] else {"cost_centre": "", "department": "", **document["teams"][team]}
    codes = said.get("cost_centres", {})
    found = [codes[name] for name in (team, place["cost_centre"], place["department"]) if name in codes]
    centre = (found or [place["cost_centre"] or central["cost_centre"]])[0]
    by_component = said.get("accounts", {})
    account = by_component.get(key["component"], by_component.get("otherwise", key["component"]))
    return team, centre, said.get("reasons", {}).get(key["reason"], account)


def exact(amount: int, currency: str) -> Decimal:
    return Decimal(amount).scaleb(-DIGITS[currency])


@given(policies, rows_of)
def test_each_booking_stands_where_the_policy_says(document: dict[str, Any], rows: list[Any]) -> None:
    lines = reading.read(text_of(made(document, rows)))
    wanted: dict[tuple[str, ...], Decimal] = defaultdict(Decimal)
    for key, amount, kind in rows:
        if key["currency"] == "gCO2e":
            continue
        label = LABELS[kind] if kind < len(LABELS) else Kind()
        place = (key["bill"], key["currency"], *expected(document, key), key["team"], label.kind, label.corrects)
        wanted[place] += exact(amount, key["currency"])
    names = ("bill", "currency", "team", "cost_centre", "account", "owner", "kind", "corrects")
    assert reading.sums(reading.booked(lines), *names) == {key: amount for key, amount in wanted.items() if amount}


@given(policies, rows_of)
def test_every_bill_balances_and_is_cleared_with_what_it_comes_to(document: dict[str, Any], rows: list[Any]) -> None:
    lines = reading.read(text_of(made(document, rows)))
    assert reading.sums(lines, "bill", "currency") == {}
    assert reading.sums(lines, "entry") == {}
    bills: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for key, amount, _ in rows:
        if key["currency"] != "gCO2e":
            bills[key["bill"], key["currency"]] -= exact(amount, key["currency"])
    cleared = [line for line in lines if not line["kind"]]
    assert reading.sums(cleared, "bill", "currency") == {key: amount for key, amount in bills.items() if amount}
    clearing = document["journal"].get("clearing", "clearing")
    if isinstance(clearing, str):
        assert {line["account"] for line in cleared} <= {clearing}
    elif "otherwise" in clearing:
        assert all(line["account"] == ("2403" if line["bill"] == "AWS 2026-10" else "2404") for line in cleared)
    else:
        assert all(line["account"] == ("2401" if line["bill"].startswith("AWS ") else "2402") for line in cleared)
    for line in lines:
        places = (line["debit"] or line["credit"]).partition(".")[2]
        assert len(places) == DIGITS[line["currency"]]
        if document["journal"].get("negative") == "kept":
            assert bool(line["debit"]) == bool(line["kind"])
        else:
            assert not (line["debit"] + line["credit"]).startswith("-")


@given(policies, rows_of, st.randoms(use_true_random=False))
def test_the_same_figures_are_the_same_bytes_and_other_figures_other_ids(
    document: dict[str, Any], rows: list[Any], dice: random.Random
) -> None:
    entries = made(document, rows)
    shuffled = dice.sample(rows, len(rows))
    assert text_of(made(document, shuffled)) == text_of(entries)
    ids = [line["line"] for line in reading.read(text_of(entries))]
    assert len(set(ids)) == len(ids)
    if not rows:
        return
    first = rows[0]
    more = made(document, [(first[0], first[1] * 3, first[2]), *rows[1:]])
    before = {(entry.bill, entry.currency): entry.id for entry in entries}
    after = {(entry.bill, entry.currency): entry.id for entry in more}
    changed = (first[0]["bill"], first[0]["currency"])
    assert before.pop(changed, "") != after.pop(changed, "") or first[0]["currency"] == "gCO2e"
    assert before == after


@given(policies, rows_of)
def test_a_document_is_named_where_its_team_is_charged(document: dict[str, Any], rows: list[Any]) -> None:
    numbers = {(team, one): f"INV-{place}-{one}" for place, team in enumerate(TEAMS) for one in ("USD", "JPY", "KWD")}
    lines = reading.read(text_of(made(document, rows, numbers)))
    pools = {pool: said.get("mode", "chargeback") for pool, said in document["pools"].items()}
    for line in lines:
        number = numbers.get((line["team"], line["currency"]), "")
        if line["owner"] != line["team"] or not line["team"]:
            assert line["document"] == number  # carried: on the carrier's invoice
        elif "showback" not in pools.values():
            own = in_chargeback(document, line["team"]) or document["carried_by"].get("showback") == line["team"]
            assert line["document"] == (number if own else "")
    assert [line["entry"] for line in lines] == [line["entry"] for line in reading.read(text_of(made(document, rows)))]


def postings(rows: list[Any], off: int = 0) -> pa.Table:
    """What was posted, to the last digit; `off` minor units are missing in the first."""
    records = [
        {**key, "period": "2026-10", "day": Period(2026, 10).first_day, "amount": exact(amount - off * (not place), key["currency"])}
        for place, (key, amount, _) in enumerate(rows)
    ]  # fmt: skip
    return pa.Table.from_pylist(records, POSTINGS)


@given(policies, rows_of.filter(lambda rows: rows and rows[0][0]["currency"] != "gCO2e"), st.sampled_from([-1, 1, 100]))
def test_a_journal_that_is_not_the_bill_is_refused(document: dict[str, Any], rows: list[Any], off: int) -> None:
    entries = made(document, rows)
    check(entries, postings(rows))
    with pytest.raises(InvariantError):
        check(entries, postings(rows, off))


SAMPLE = Path(__file__).parents[2] / "docs/how-to/book-the-month.md"
TRANSACTION = re.compile(r"(\d{4}-\d\d-\d\d) \* \(([0-9a-f]{16})\) (.+)")
POSTING = re.compile(r"    (\S.*?)  ([A-Z]{3}) (-?[0-9.]+)  ; (.+)")


def sample() -> str:
    page = SAMPLE.read_text(encoding="utf-8")
    return next(one.text for one in snippets.snippets(page) if one.file == "journal.ledger.j2")


@given(policies, rows_of)
def test_the_sample_for_ledger_balances_when_it_is_parsed(document: dict[str, Any], rows: list[Any]) -> None:
    """Two blanks end an account, and a transaction's amounts add up to 0: https://ledger-cli.org/doc/ledger3.html."""
    entries = made(document, rows)
    found: dict[str, list[tuple[str, str, Decimal]]] = {}
    entry = ""
    for line in filter(None, render(entries, OCTOBER, sample()).split("\n")):
        if opened := TRANSACTION.fullmatch(line):
            entry = opened[2]
            found[entry] = []
            continue
        posting = POSTING.fullmatch(line)
        assert posting is not None, line
        found[entry].append((posting[1], posting[2], Decimal(posting[3])))
    assert list(found) == [entry.id for entry in entries]
    for one in found.values():
        assert sum(amount for _, _, amount in one) == 0
        assert len({currency for _, currency, _ in one}) == 1
    lines = reading.read(text_of(entries))
    accounts = [":".join(filter(None, (line["account"], line["cost_centre"]))) for line in lines]
    wanted = [(name, line["currency"], reading.signed(line)) for name, line in zip(accounts, lines, strict=True)]
    assert [posting for one in found.values() for posting in one] == wanted
