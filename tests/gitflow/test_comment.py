"""`whatif -o md` as a comment on a pull request."""

from decimal import Decimal
from pathlib import Path

import pytest

from apportion.render.comment import MARK, MOST, UNSEEN, comment
from apportion.render.sheet import Sheet, Table
from apportion.reports.report import Column
from tests.cli.conftest import Run

COLUMNS = (
    Column("owner", "owner"),
    Column("posted", "posted", "money"),
    Column("instead", "instead", "money"),
    Column("change", "difference", "money"),
    Column("why", "mostly"),
)


def table(rows: list[tuple[str, str, str]], heading: str = "") -> Table:
    made = tuple(
        (owner, Decimal(posted), Decimal(instead), Decimal(instead) - Decimal(posted), "")
        for owner, posted, instead in rows
    )
    sums = tuple(sum((row[n] for row in made), Decimal(0)) for n in (1, 2, 3))
    return Table(COLUMNS, made, ("", *sums, ""), "USD", heading)


def test_it_is_one_comment_with_who_gains_and_loses(run: Run, posted: Path) -> None:
    text = (posted / "policy.yaml").read_text("utf-8")
    (posted / "new.yaml").write_text(text.replace("idle: central", "idle: proportional"), "utf-8")
    done = run("--project", posted, "whatif", "--policy", posted / "new.yaml", "-o", "md")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == MARK
    assert lines[2].startswith("### 117.50 USD of 2026-10 would move: ")
    assert "| speech |" in done.out
    assert "pools.gpu.idle changes from central to proportional" in done.out
    assert done.out.count("<details>") == done.out.count("</details>") >= 1


def test_who_owes_the_same_is_one_row_so_that_columns_add_up() -> None:
    rows = [("vision", "10", "12"), ("speech", "5", "3"), ("a", "1", "1"), ("b", "2", "2")]
    text = comment(Sheet("4.00 USD would move.", (table(rows),)))
    assert "| 2 others | 3.00 | 3.00 | - |  |" in text
    assert "|  | **18.00** | **18.00** | **0.00** |  |" in text


@pytest.mark.parametrize(
    ("name", "never"),
    [
        ("@everyone", "@everyone"),
        ("a|b", "| a|b |"),
        ("`rm -rf`", " `rm"),
        ("<img src=x>", " <img"),
        ("see #12", "#12"),
        ("https://evil.example", "https://evil"),
        ("www.evil.example", "www.evil"),
        ("</details>", "</details>"),
        ("[x](javascript:1)", "[x]("),
        ("line\nbreak", "line\n"),
    ],
)
def test_a_name_is_neither_markup_nor_a_call(name: str, never: str) -> None:
    text = comment(Sheet(f"{name} would owe more.", (table([(name, "1", "2")]),), notes=(f"of {name}", name)))
    assert never not in text.partition("<details>")[0]
    inside = text.partition("how to read the figures</summary>")[2].removesuffix("</details>\n")
    assert inside
    assert never not in inside


def test_no_comment_is_longer_than_github_takes() -> None:
    """A thousand owners by a name of many bytes each, in the first table and in parts to unfold."""
    rows = [(f"{'ü' * 40}-{n}", "1", "2") for n in range(1000)]
    tables = (table(rows), table(rows, "Why"), table(rows[:3], "Last"))
    text = comment(Sheet("Much.", tables, notes=("first", *("x" * 1000 for _ in range(20)))))
    assert len(text.encode()) <= MOST
    assert "| 960 others |" in text
    assert "did not fit into a comment" in text
    assert "<summary>Last</summary>" in text
    assert text.count("<details>") == text.count("</details>")


def test_an_unseen_blank_is_between_the_sign_and_the_name() -> None:
    assert f"policy@{UNSEEN}8f06" in comment(Sheet("policy@8f06"))
