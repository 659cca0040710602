"""`/facets`: what kind of work the money went to, how sure that is, and what its runs cost."""

import shlex

from apportion.model.facets import KNOWN
from apportion.render.sheet import report_sheet
from apportion.reports.report import Report
from apportion.reports.runs import OTHERS
from apportion.reports.worked import NO_WORKLOAD, NOT_SET
from apportion.verbs.facets import facets
from apportion.verbs.runs import runs
from apportion.web.ask import Ask, at
from apportion.web.frame import Entry
from apportion.web.page import Block, Page, Rows
from apportion.web.routes import Route


def facet_page(ask: Ask) -> Page:
    """`by`: the facet that is looked at; `value`: only the runs of that value."""
    by, where = ask.one("by", KNOWN[0]), ask.filters
    narrow = (*where, f"{by}={told(ask.one('value'))}") if ask.one("value") else where
    known, money, cost = kept(ask, "", where), kept(ask, by, where), kept(ask, "run", narrow)
    asked = f"--period {ask.period}" + "".join(f" --where {shlex.quote(one)}" for one in narrow)
    blocks: list[Block] = [*by_value(ask, money, by), *by_run(ask, cost, by), *covered(ask, known)]
    return Page(
        "facets", cost.title, tuple(blocks), command=f"apportion report runs {asked}", notes=report_sheet(cost).notes
    )


def kept(ask: Ask, by: str, where: tuple[str, ...]) -> Report:
    key = ("work", ask.period, where, ask.viewer.teams, by)
    make = runs if by == "run" else facets
    return ask.desk.kept(key, lambda: make(ask.project, ask.months, by, where, ask.record))


def told(value: str) -> str:
    return "" if value == NOT_SET else value


def by_value(ask: Ask, made: Report, by: str) -> list[Block]:
    """Each value leads to its runs."""
    blocks: list[Block] = []
    for table in report_sheet(made).tables:
        values = ["" if row[0] == NO_WORKLOAD else str(row[0]) for row in table.rows]
        there = [ask.link("/facets", by=by, value=value) if value else "" for value in values]
        blocks.append(Rows(table, f"By {by}", {by: there, "amount": there}, "amount", lead=ask.link("/facets")))
    return blocks


def by_run(ask: Ask, made: Report, by: str) -> list[Block]:
    """Each run leads to its page and its explanation; jobs that only a tracker ties together have none of one run."""
    blocks: list[Block] = []
    for table in report_sheet(made).tables:
        jobs = [column.name for column in table.columns].index("jobs")
        names = ["" if row[0] in (OTHERS, NO_WORKLOAD) or row[jobs] != 1 else str(row[0]) for row in table.rows]
        links = {
            "run": [ask.link(at("/runs", name), where=None) if name else "" for name in names],
            "amount": [ask.explained(f"job:{name}") if name else "" for name in names],
        }
        value = ask.one("value")
        heading = f"Runs that cost most, of {by} {value}" if value else "Runs that cost most"
        blocks.append(Rows(table, heading, links, "amount", lead=ask.link("/facets")))
    return blocks


def covered(ask: Ask, made: Report) -> list[Block]:
    blocks: list[Block] = []
    for table in report_sheet(made).tables:
        links = {"facet": [ask.link("/facets", by=str(row[0])) for row in table.rows]}
        blocks.append(Rows(table, "How much is known, and how sure", links, lead=ask.link("/facets")))
    return blocks


ROUTES = (Route("/facets", facet_page, entry=Entry("Work", "/facets", "k")),)
