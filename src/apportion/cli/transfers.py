"""How a posted credit or re-attribution looks: its entries, which add up to nothing."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from apportion.render.sheet import Sheet
    from apportion.verbs.project import Project

SHOWN = ("bill", "component", "pool", "day", "reason", "cause")


def transfer_sheet(project: "Project", title: str, value: object, run_id: str) -> "Sheet":
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.verbs.run_rows import owners_side
    from apportion.verbs.transfers import path_of

    entries = owners_side(project, [run_id]).to_pylist()
    columns = (
        Column("posting", "posting"),
        Column("owner", "owner"),
        *(Column(name, name, quiet=True) for name in SHOWN),
        Column("amount", "amount", "money"),
    )
    tables = tuple(
        Table(
            columns,
            tuple(
                (str(row["seq"]), path_of(row), *(str(row[name]) for name in SHOWN), row["amount"])
                for row in entries
                if row["currency"] == currency
            ),
            currency=currency,
        )
        for currency in sorted({row["currency"] for row in entries})
    )
    return Sheet(title, tables, value, (f"ledger head {project.books.head()}",))
