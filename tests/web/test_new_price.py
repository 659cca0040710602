"""What if a pool cost more: the same as if its bill had been another, exactly; a published price is a rule."""

from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.client.wire import ServerError
from apportion.errors import ApportionError
from apportion.reports.sums import total
from apportion.verbs.draft import policy_text
from apportion.verbs.project import Project
from apportion.verbs.repriced import NewPrice, read_prices, scaled
from apportion.verbs.whatif import Whatif
from apportion.web.app import create_app
from tests.sources import making
from tests.web import world
from tests.web.conftest import Clients, clients_of
from tests.web.forms import sent
from tests.web.serving import serving
from tests.web.test_api_client import as_one

MONTH = "2026-10"
BILLS = {"gpus": 31 * Decimal("784.36"), "disks": 31 * Decimal("41.13"), "rest": 31 * Decimal("7.77")}
CARD = 'meter: storage, method: rate_card, prices: [{per: hour, price: "0.0021"}]'
CARDS = CARD.replace("prices: [", 'prices: [{when: {tag.team: vision}, price: "0.003"}, ')


def listed(project: Project, card: str = CARD) -> str:
    return policy_text(project).replace("meter: storage, method: proportional", card)


def amounts(made: Whatif) -> dict[str, Decimal]:
    return {row.owner: row.after for row in made.rows}


@pytest.mark.parametrize("pool", BILLS)
@pytest.mark.parametrize(("price", "factor"), [("+3.7%", "1.037"), ("-100%", "0"), ("+0.000001%", "1.00000001")])
def test_the_sum_is_the_new_bill_in_whole_cents(small: Project, pool: str, price: str, factor: str) -> None:
    before = small.books.state()
    made = apportion.whatif(small, MONTH, prices=[f"{pool}={price}"])
    then = round(sum(BILLS.values()) + BILLS[pool] * (Decimal(factor) - 1), 2)
    assert total(row.after for row in made.rows) == then
    assert total(row.change for row in made.rows) == then - sum(BILLS.values())
    assert (made.posted, made.clauses, len(made.bills)) == (True, (), 1)
    assert small.books.state() == before


def test_it_is_what_a_plan_of_such_a_bill_would_post(small: Project, tmp_path: Path) -> None:
    own = world.copied(small, tmp_path / "own")
    lines = [
        line if line["ServiceCategory"] != "Compute" else {**line, "EffectiveCost": f"{Decimal(line['EffectiveCost']) * 11 / 10}"}
        for line in world.lines(MONTH)
    ]  # fmt: skip
    making.put(own.folder / "bills" / f"{MONTH}.csv", making.bill_text(*lines))
    apportion.ingest(own)
    planned = {row.owner: row.after for row in apportion.plan(own, MONTH).rows}
    assert amounts(apportion.whatif(small, MONTH, prices=["gpus=+10%"])) == planned
    by_amount = apportion.whatif(small, MONTH, prices=[f"gpus={BILLS['gpus'] * 11 / 10}"])
    assert amounts(by_amount) == planned
    assert by_amount.title.startswith("2026-10 would cost 2,431.52 USD more: _idle and ")


def test_an_amount_is_met_exactly_and_prices_can_be_several(small: Project) -> None:
    made = apportion.whatif(small, MONTH, prices=["gpus=100.01", "disks=0.000000000000000001"])
    assert total(row.after for row in made.rows) == Decimal("100.01") + BILLS["rest"]
    assert made.bills[0] == "the bill of gpus is 100.01 USD instead of 24,315.16 USD"


def test_parts_of_a_sum_add_up_whatever_their_signs_and_order() -> None:
    ids, parts = list("badc"), [Decimal("1.000000000000000001"), Decimal("-0.3"), Decimal(7), Decimal("0.1")]
    new = scaled(parts, ids, NewPrice("x", amount=Decimal("3.333333333333333333")))
    assert sum(new) == Decimal("3.333333333333333333")
    order = sorted(range(4), key=ids.__getitem__)
    again = scaled(
        [parts[n] for n in order], [ids[n] for n in order], NewPrice("x", amount=Decimal("3.333333333333333333"))
    )
    assert again == [new[n] for n in order]


def test_a_published_price_is_a_rule(small: Project) -> None:
    more = apportion.whatif(small, MONTH, listed(small), ["disks=+10%"])
    assert amounts(more) == amounts(apportion.whatif(small, MONTH, listed(small).replace("0.0021", "0.00231")))
    assert amounts(more) == amounts(apportion.whatif(small, MONTH, listed(small), ["disks=0.00231"]))
    assert not more.bills
    both = apportion.whatif(small, MONTH, listed(small, CARDS), ["disks=+50%"])
    dearer = listed(small, CARDS).replace('"0.003"', '"0.0045"').replace('"0.0021"', '"0.00315"')
    assert amounts(both) == amounts(apportion.whatif(small, MONTH, dearer))


@pytest.mark.parametrize(
    ("price", "code"),
    [
        ("gpus", "invalid-new-price"),
        ("gpus=", "invalid-new-price"),
        ("gpus=much", "invalid-new-price"),
        ("gpus=-5", "invalid-new-price"),
        ("gpus=-101%", "invalid-new-price"),
        ("gpus=1e9", "invalid-new-price"),
        ("gpus=nan%", "invalid-new-price"),
        ("nothing=+5%", "unknown-figure"),
        ("disks=2", "unclear-new-price"),
    ],
)
def test_what_is_no_price_is_told(small: Project, price: str, code: str) -> None:
    with pytest.raises(ApportionError) as told:
        apportion.whatif(small, MONTH, listed(small, CARDS), [price])
    assert told.value.code == code


def test_two_prices_for_one_pool_are_no_answer() -> None:
    with pytest.raises(ApportionError, match="gpus has two prices"):
        read_prices(["gpus=1", "gpus=2"])
    assert [one.text for one in read_prices(["a=b=+10%", "c=-2.50%", "d=7.10"])] == ["+10%", "-2.5%", "7.1"]


def test_a_pool_without_a_bill_has_no_price_to_change(small: Project) -> None:
    text = policy_text(small).replace("rest: {costs: otherwise, by", "rest: {from: {owner: platform}, by")
    with pytest.raises(ApportionError) as told:
        apportion.whatif(small, MONTH, text, ["rest=+5%"])
    assert told.value.code == "no-bill-to-change"


def test_page_api_client_and_verb_say_the_same(small: Project, clients: Clients) -> None:
    made = apportion.whatif(small, MONTH, prices=["gpus=+10%"])
    finance = clients("finance")
    page = finance.get(f"/what-if.json?period={MONTH}&pool=gpus&price=%2B10%25").json()
    assert page["title"] == f"With a price of +10% for gpus, {made.title}"
    assert page["command"] == f"apportion whatif --period {MONTH} --price gpus=+10%"
    shown = {row["owner"]: (Decimal(row["before"]), Decimal(row["after"])) for row in page["tables"][0]["rows"]}
    assert shown == {row.owner: (row.before, row.after) for row in made.rows if row.sign != " "}
    text = finance.get(f"/what-if?period={MONTH}&pool=gpus&price=%2B10%25").text
    assert "The bill of gpus is 26,746.68 USD instead of 24,315.16 USD (+10 %)." in text
    assert "Save as a draft" not in text  # a bill is nobody's to propose
    wrong = finance.get(f"/what-if?period={MONTH}&pool=gpus&price=dear").text
    assert "neither an amount nor a change in percent" in wrong


def test_a_published_price_can_be_proposed(small: Project, tmp_path: Path) -> None:
    own = world.copied(small, tmp_path / "own")
    (own.folder / "policy.yaml").write_text(listed(own), "utf-8")
    finance = clients_of(own.folder)("finance")
    asked = f"/what-if?period={MONTH}&pool=disks&driver=allocated&price=%2B10%25"
    assert "<code>+" in finance.get(asked).text
    saved = sent(finance, asked, "/drafts/setting", pool="disks", price="+10%", why="disks cost more now")
    assert saved.status_code == 303
    assert 'price: "0.00231"' in apportion.drafts(own)[-1].text


def test_over_the_wire(small: Project) -> None:
    app = create_app(small.folder)
    made = apportion.whatif(small, MONTH, prices=["disks=2000"])
    with serving(app) as address, as_one(small, address, "finance") as client:
        answer = client.what_if(MONTH, prices=["disks=2000"])
        assert {row.owner: Decimal(row.after) for row in answer.rows} == amounts(made)
        assert answer.bills == list(made.bills)
        with pytest.raises(ServerError) as nothing:
            client.what_if(MONTH)
        assert nothing.value.code == "nothing-asked"
        with as_one(small, address, "viewer") as viewer, pytest.raises(ServerError) as refused:
            viewer.what_if(MONTH, prices=["disks=2000"])
        assert refused.value.status == 403
