"""Posted shares beside peak Shapley: what would move, and in which words."""

from decimal import Decimal

from apportion.model.money import plain
from apportion.reports.fairness import Drawn, Stake, fairness
from apportion.reports.report import Cell, Report
from tests.reports.record import record

D = Decimal
STAKES = (
    Stake("h100", "USD", "vision", reasons={"usage": D(60), "idle": D(20)}, instead=D(50)),
    Stake("h100", "USD", "speech", reasons={"usage": D(10), "idle": D(0)}, instead=D(45)),
    Stake("h100", "USD", "_idle", reasons={"usage": D(0), "idle": D(10)}, instead=D(5)),
    Stake("l40s", "USD", "speech", reasons={"usage": D(30), "idle": D(0)}, instead=D(20), error=D("0.002")),
    Stake("l40s", "USD", "vision", reasons={"usage": D(0), "idle": D(0)}, instead=D(10), error=D("0.001")),
)
DRAWN = {"l40s": Drawn(("2026-10 v1 l40s 0 (0, 744)",), 2000)}

ESTIMATED = "estimated from 2,000 orders drawn with seed '2026-10 v1 l40s 0 (0, 744)': standard errors up to 0.200 % of the peak"


def made(by: str = "team", stakes: tuple[Stake, ...] = STAKES) -> Report:
    return fairness(record(), stakes, DRAWN, {"network": "network is a flow, which has no peak"}, by)


def cells(report: Report, *names: str) -> list[tuple[str, ...]]:
    at = [[column.name for column in report.columns].index(name) for name in names]
    return [tuple(read(row[n]) for n in at) for row in report.sections[0].rows]


def read(cell: Cell) -> str:
    return plain(cell) if isinstance(cell, Decimal) else str(cell)


def test_an_owners_differences_are_added_over_pools() -> None:
    """vision -30 and +10, speech +35 and -10, _idle -5: 25 move. With _idle as posted speech pays 32.63 more of h100's 90 and 10 less of l40s: 22.63."""
    report = made()
    assert cells(report, "owner", "usage", "idle", "posted", "instead", "change") == [
        ("speech", "40", "0", "40", "65", "25"),
        ("vision", "60", "20", "80", "60", "-20"),
        ("_idle", "0", "10", "10", "5", "-5"),
    ]
    assert report.title == (
        "By peak Shapley 25.00 USD would move: 2.5 % of the bill of 1,000.00 USD for 2026-10, 19.2 % of the 130.00 USD that can be compared. "
        "5.00 USD of it would leave _idle for those who made the peaks; with _idle as posted, 22.63 USD would move between owners (2.3 % of the bill)."
    )
    assert plain(report.sections[0].bill) == "130"


def test_each_pool_says_what_moves_in_it_and_how_that_was_found() -> None:
    report = made("pool")
    assert cells(report, "pool", "owner", "change") == [
        ("h100", "speech", "35"),
        ("h100", "vision", "-30"),
        ("h100", "_idle", "-5"),
        ("l40s", "speech", "-10"),
        ("l40s", "vision", "10"),
    ]
    assert report.notes[0].splitlines() == [
        "h100: 35.00 USD of 100.00 USD would move (35.0 %), 32.63 USD between owners; exact",
        "l40s: 10.00 USD of 30.00 USD would move (33.3 %), 10.00 USD between owners; " + ESTIMATED,
    ]
    assert report.notes[-1] == "Not compared: network (network is a flow, which has no peak)."
    pools = report.more["pools"]
    assert isinstance(pools, list)
    assert [(pool["pool"], pool["moved"], pool["exact"], pool["orders"]) for pool in pools] == [
        ("h100", D(35), True, None),
        ("l40s", D(10), False, 2000),
    ]


def test_where_nothing_can_be_compared_it_says_so() -> None:
    report = made(stakes=())
    assert report.title == "No pool of 2026-10 can be compared with peak Shapley."
    assert report.sections == ()
    assert report.notes == ("Not compared: network (network is a flow, which has no peak).",)


def test_money_that_becomes_idle_is_told_as_such() -> None:
    stakes = (
        Stake("a100", "USD", "vision", reasons={"usage": D(100), "idle": D(0)}, instead=D(70)),
        Stake("a100", "USD", "_idle", reasons={"usage": D(0), "idle": D(0)}, instead=D(30)),
    )
    assert (
        "30.00 USD of it would go to _idle; with _idle as posted, 0.00 USD would move between owners"
        in made(stakes=stakes).title
    )


def test_the_ledgers_head_stands_below() -> None:
    assert made().head == "a" * 64
