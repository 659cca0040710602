"""The views: the columns that they promise, figures to the last digit, and no more than readers may see; on both databases."""

import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, text

import apportion
from apportion.books.database import reading
from apportion.books.open import Books
from apportion.books.views.dialects import Sqlite
from apportion.books.views.shapes import TYPES, VERSION, VIEWS
from apportion.errors import BooksError
from apportion.model.money import plain, total_of
from apportion.model.times import day_start, parse_period
from apportion.reports.sums import grouped
from apportion.verbs.project import Project
from apportion.verbs.views import drop_views, views
from tests.web import world

UTC = ZoneInfo("UTC")
Row = dict[str, Any]
CLOSED, OPEN = world.BILLED


def rows(books: Books, query: str) -> list[Row]:
    with reading(books.engine) as connection:
        return [dict(row) for row in connection.execute(text(query)).mappings()]


def exactly(value: Any) -> Decimal:
    """SQLite hands over digits, PostgreSQL a decimal: a float would be neither."""
    assert isinstance(value, str | Decimal)
    return Decimal(value)


def summed(found: list[Row], *keys: str) -> dict[tuple[str, ...], Decimal]:
    sums: dict[tuple[str, ...], list[Decimal]] = {}
    for row in found:
        sums.setdefault(tuple(str(row[key]) for key in keys), []).append(exactly(row["amount"]))
    return {key: total_of(some) for key, some in sums.items()}


@pytest.fixture(params=["small", "served"])
def project(request: pytest.FixtureRequest) -> Project:
    """Each such test on both databases."""
    found: Project = request.getfixturevalue(request.param)
    return found


def test_a_view_has_the_columns_that_its_page_promises(project: Project) -> None:
    for view in VIEWS:
        found = rows(project.books, f"SELECT * FROM {view.name}")
        assert found, view.name
        assert list(found[0]) == [column.name for column in view.columns], view.name


def test_postgresql_has_their_types_and_says_what_they_mean(served: Project) -> None:
    query = """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) AS type, col_description(c.oid, a.attnum) AS said,
            obj_description(c.oid) AS about
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relkind = 'v' AND c.relname LIKE 'apportion%'"""
    views(served)
    found = {(row["relname"], row["attname"]): row for row in rows(served.books, query)}
    assert len(found) == sum(len(view.columns) for view in VIEWS)
    for view in VIEWS:
        for column in view.columns:
            row = found[view.name, column.name]
            assert (row["type"], row["said"]) == (TYPES[column.kind][0], column.meaning), (view.name, column.name)
            assert row["about"] == f"{view.about} (version {VERSION})"


@pytest.mark.parametrize("by", ["team", "pool", "reason"])
def test_sums_are_those_of_the_report_and_of_the_ledger(project: Project, by: str) -> None:
    """Whole minor units, as reports tell them; and of postings and days every digit."""
    for month in world.BILLED:
        report = apportion.report(project, "showback", month, by=by)
        (section,) = report.sections
        amount = [column.name for column in report.columns].index("amount")
        assert sums_in(project, "apportion_amounts", month, by) == {(row[0],): row[amount] for row in section.rows}
        for view in ("apportion_postings", "apportion_daily"):
            assert sums_in(project, view, month, by) == grouped(project.books.posted(month), (by,))


def sums_in(project: Project, view: str, month: str, by: str) -> dict[tuple[str, ...], Decimal]:
    return summed(
        rows(project.books, f"SELECT {by}, amount FROM {view} WHERE period = '{month}' AND currency = 'USD'"), by
    )


def test_owners_idle_unallocated_and_residual_are_the_bill(project: Project) -> None:
    found = summed(rows(project.books, "SELECT bill, owner_kind, amount FROM apportion_postings"), "bill", "owner_kind")
    totals = {row["bill"]: exactly(row["total"]) for row in rows(project.books, "SELECT * FROM apportion_bills")}
    assert {kind for _, kind in found} >= {"team", "idle", "unallocated"}
    for bill, total in totals.items():
        assert total_of(amount for (its, _), amount in found.items() if its == bill) == total


def test_bills_are_what_their_lines_come_to(project: Project) -> None:
    for month in world.BILLED:
        found = rows(project.books, f"SELECT * FROM apportion_bills WHERE period = '{month}'")
        start = day_start(parse_period(month).first_day, UTC)
        lines = project.books.scan("cost_lines", where=pc.field("billing_start_s") == start)
        assert [exactly(row["total"]) for row in found] == [pc.sum(lines["EffectiveCost"]).as_py()]
        assert [(row["issuer"], row["bill_currency"], exactly(row["difference"])) for row in found] == [
            ("Nimbus", "USD", Decimal(0))
        ]


def test_idle_is_what_the_report_of_idle_says(project: Project) -> None:
    (section,) = apportion.report(project, "idle", OPEN).sections
    keys = ("pool", "cause", "team")
    idle = f"period = '{OPEN}' AND (reason = 'idle' OR team = '_idle')"
    found = rows(project.books, f"SELECT pool, cause, team, amount FROM apportion_amounts WHERE {idle}")
    assert summed(found, *keys) == {(row[0], row[1], row[2]): row[4] for row in section.rows}
    daily = rows(project.books, f"SELECT pool, cause, team, amount FROM apportion_idle WHERE period = '{OPEN}'")
    posted = project.books.posted(OPEN)
    exact = posted.filter(pc.or_(pc.equal(posted["reason"], "idle"), pc.equal(posted["team"], "_idle")))
    assert summed(daily, *keys) == grouped(exact, keys)


def test_budgets_are_those_that_hold_with_what_was_spent(project: Project) -> None:
    for month in world.BILLED:
        said = {(one.budget.team, one.budget.project): one for one in apportion.budgets(project, month)}
        found = rows(project.books, f"SELECT * FROM apportion_budgets WHERE period = '{month}'")
        assert {(row["team"], row["project"]) for row in found} == set(said)
        for row in found:
            one = said[row["team"], row["project"]]
            assert [exactly(row[name]) for name in ("budget", "spent", "remaining")] == [
                one.budget.amount,
                one.spent,
                one.left,
            ]


def test_statements_are_those_that_were_issued_in_major_units(project: Project) -> None:
    closed = project.books.closed(CLOSED)
    assert closed is not None
    found = rows(project.books, "SELECT * FROM apportion_statements WHERE level <> 'user'")
    said = {(one.level, one.owner): Decimal(one.amount).scaleb(-2) for one in closed.documents if one.level != "user"}
    assert {(row["level"], row["owner"]): exactly(row["charged"]) for row in found} == said
    assert {row["invoice"] for row in found} - {""} == {one.label for one in closed.documents if one.number}


def test_months_are_open_or_closed_with_the_head_that_reports_print(project: Project) -> None:
    found = {row["period"]: row for row in rows(project.books, "SELECT * FROM apportion_periods")}
    assert [(month, found[month]["status"], found[month]["closed_at"] is None) for month in sorted(found)] == [
        (CLOSED, "closed", False),
        (OPEN, "open", True),
    ]
    assert {month: row["head"] for month, row in found.items()} == {month: project.books.head(month) for month in found}


def test_postings_and_statements_name_nobody_and_one_view_does(project: Project) -> None:
    names = {"ada", "grace", "quagga", "kurt"}
    said = {view.name: str(rows(project.books, f"SELECT * FROM {view.name}")) for view in VIEWS}
    telling = {name for name, words in said.items() if names & set(re.findall(r"\w+", words))}
    assert telling == {"apportion_users"}
    join = """
        SELECT u.name, p.amount FROM apportion_postings p
        JOIN apportion_users u ON u.about_period = p.about_period AND u.user_token = p.user_token WHERE p.period = '2026-10'"""
    posted = project.books.posted(OPEN)
    mine = [row["amount"] for row in posted.to_pylist() if row["user"] == "ada"]
    assert summed(rows(project.books, join), "name")["ada",] == total_of(mine)


def test_who_was_erased_is_in_no_view(small: Project, tmp_path: Path) -> None:
    mine = world.copied(small, tmp_path / "mine")
    views(mine)
    before = rows(mine.books, "SELECT * FROM apportion_users WHERE about_period = '2026-09'")
    apportion.erase(mine, parse_period(OPEN), why="retention", yes=True)
    assert before
    assert rows(mine.books, "SELECT * FROM apportion_users WHERE about_period = '2026-09'") == []
    assert mine.books.verify() == []


def test_views_are_made_again_and_taken_away(small: Project, tmp_path: Path) -> None:
    mine = world.copied(small, tmp_path / "mine")
    head = mine.books.head()
    assert views(mine).names == views(mine).names == tuple(view.name for view in VIEWS)
    assert [one.what for one in mine.books.audit()].count("views") == 1  # made anew, they are what they were
    assert drop_views(mine).version == VERSION
    assert (drop_views(mine).names, mine.books.views.there().version) == ((), 0)
    assert (mine.books.head(), mine.books.verify()) == (head, [])


@pytest.fixture
def as_role(served: Project) -> Callable[[str, str], list[Any]]:
    """What a query gives to a role of its own."""
    url = served.books.engine.url

    def ask(role: str, query: str) -> list[Any]:
        engine = create_engine(url.set(username=role))
        try:
            with engine.connect() as connection:
                return list(connection.execute(text(query)).all())
        finally:
            engine.dispose()

    return ask


def test_a_reader_sees_views_and_nothing_else(served: Project, as_role: Callable[[str, str], list[Any]]) -> None:
    with served.books.engine.begin() as connection:
        connection.execute(text("CREATE ROLE bi LOGIN"))
    views(served, "bi")
    for view in VIEWS:
        if not view.personal:
            assert as_role("bi", f"SELECT * FROM {view.name} LIMIT 1")
    closed = [
        "apportion_users",
        "names",
        "entries",
        "runs",
        "documents",
        "sessions",
        "tokens",
        "hooks",
        "iceberg_tables",
    ]
    for table in closed:
        with pytest.raises(Exception, match="permission denied"):
            as_role("bi", f"SELECT * FROM {table} LIMIT 1")
    with pytest.raises(Exception, match=r"permission denied|cannot delete"):
        as_role("bi", "DELETE FROM apportion_postings")
    views(served, "bi", names=True)
    assert as_role("bi", "SELECT name FROM apportion_users LIMIT 1")
    views(served, "bi")  # as it is said last
    with pytest.raises(Exception, match="permission denied"):
        as_role("bi", "SELECT name FROM apportion_users LIMIT 1")
    with pytest.raises(BooksError, match="no role 'nobody; DROP'"):
        views(served, "nobody; DROP")


def test_a_file_has_no_roles(small: Project) -> None:
    with pytest.raises(BooksError, match="SQLite has no roles"):
        views(small, "bi")


AMOUNTS = st.decimals(Decimal(-(10**12)), Decimal(10**12), places=18, allow_nan=False, allow_infinity=False)


@given(
    st.lists(
        st.one_of(
            AMOUNTS,
            st.sampled_from([Decimal(0), Decimal("-0.000000001"), Decimal("0.999999999999999999"), Decimal(-7)]),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_sqlite_adds_up_without_losing_a_digit(amounts: list[Decimal]) -> None:
    values = " UNION ALL ".join(
        f"SELECT 'k' AS k, '{plain(amount)}' AS amount, {n % 2} AS odd" for n, amount in enumerate(amounts)
    )
    query = Sqlite().grouped(values, ["k"], {"whole_sum": "1", "apart": "(2 * odd - 1)"})
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        row = connection.execute(text(query)).one()
    assert row.whole_sum == plain(total_of(amounts))
    assert row.apart == plain(total_of(amount if n % 2 else -amount for n, amount in enumerate(amounts)))
    assert row.postings == len(amounts)
