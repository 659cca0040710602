"""`/prices`: what will an hour cost in the coming days?"""

from apportion.render.sheet import report_sheet
from apportion.verbs.prices import Wish
from apportion.web.ask import Ask, at
from apportion.web.computing import ahead
from apportion.web.frame import Entry
from apportion.web.page import Page, Rows
from apportion.web.routes import Route


def prices(ask: Ask) -> Page:
    made = ahead(ask, Wish())
    sheet = report_sheet(made)
    return Page(
        "prices",
        made.title,
        tuple(
            Rows(
                table,
                f"Prices in {table.currency}",
                links={
                    name: [ask.link(at("/pools", str(row[0]))) for row in table.rows]
                    for name in ("pool", "price", "least", "most")
                },
            )
            for table in sheet.tables
        ),
        command="apportion prices",
        notes=sheet.notes,
        timeless=True,
        fleeting=True,
    )


ROUTES = (Route("/prices", prices, entry=Entry("Prices", "/prices", "")),)
