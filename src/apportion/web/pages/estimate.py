"""`/estimate`: what would my job cost? The job stands in the URL; nothing is kept."""

import shlex

from apportion.errors import ApportionError
from apportion.render.estimate import EFFECTS, WAYS, effect_cells, estimate_sheet
from apportion.render.sheet import Table
from apportion.reports.estimate import Estimate, Way
from apportion.reports.report import Cell
from apportion.verbs.estimating.asked import Asked
from apportion.web.ask import Ask, NotThereError, at
from apportion.web.computing import estimated
from apportion.web.frame import Entry
from apportion.web.page import Block, Form, Input, Page, Prose, Rows
from apportion.web.routes import Route

LABELS = {
    "team": "Team", "hours": "Hours", "gpus": "GPUs", "model": "GPU model", "cpus": "Cores", "memory": "Memory, GiB", "start": "Start", "pool": "Pool",
}  # fmt: skip
HINTS = {
    "gpus": "8, or parts of one: 3/7, MIG 3g.20gb.",
    "model": "Such as h100.",
    "start": "Such as 2026-11-17T09:00; empty is any hour.",
    "pool": "Where several fit.",
    "labels": "As the scheduler would write them, such as qos=preemptible; several with spaces between.",
}
MONEY = tuple(column.name for column in WAYS if column.kind in ("money", "price"))


def estimate(ask: Ask) -> Page:
    blocks: list[Block] = [form(ask)]
    title, command = "What would a job cost?", "apportion estimate --help"
    notes: tuple[str, ...] = ()
    if ask.one("hours"):
        asked = read(ask)
        try:
            found = estimated(ask, asked)
        except NotThereError:
            raise
        except ApportionError as error:
            title = "That cannot be estimated."
            blocks.append(Prose((error.message, error.hint), tone="bad"))
        else:
            sheet = estimate_sheet(found)
            title, command = sheet.title, called(asked)
            notes = tuple(line for note in sheet.notes for line in note.splitlines())
            blocks += [ways(ask, found), *effects(ask, found)]
    return Page("estimate", title, tuple(blocks), command, notes=notes, timeless=True, fleeting=True)


def read(ask: Ask) -> Asked:
    return Asked(**{name: ask.one(name).strip() for name in LABELS}, labels=tuple(ask.one("labels").split()))


def called(asked: Asked) -> str:
    """The same question on the command line."""
    given = {name: str(getattr(asked, name)) for name in LABELS}
    options = [f"--{name} {shlex.quote(value)}" for name, value in given.items() if value]
    options += [f"--label {shlex.quote(one)}" for one in asked.labels]
    return f"apportion estimate {' '.join(options)}"


def form(ask: Ask) -> Form:
    teams = tuple(team for team in ask.project.policy.teams if ask.viewer.sees(team))
    inputs = (
        Input("team", LABELS["team"], ask.one("team"), choices=teams, needed=True),
        *(
            Input(name, label, ask.one(name), hint=HINTS.get(name, ""), needed=name == "hours")
            for name, label in LABELS.items()
            if name != "team"
        ),
        Input("labels", "Labels", ask.one("labels"), hint=HINTS["labels"]),
    )
    return Form("/estimate", inputs, "Estimate", "A job that nobody has run yet", post=False)


def ways(ask: Ask, found: Estimate) -> Rows:
    """As asked, then cheaper ones; their prices are of the pools."""
    every = (found.asked, *found.cheaper)
    table = Table(WAYS, tuple(map(cells, every)), currency=found.currency)
    pools = [ask.link(at("/pools", way.pools[0])) for way in every]
    return Rows(table, "As asked, and cheaper ways", dict.fromkeys(("pool", *MONEY), pools))


def cells(way: Way) -> tuple[Cell, ...]:
    """With every digit."""
    price = way.price
    until = None if way.until is None else f"{way.until:,.1f}"
    parts = (price.direct, price.along, price.idle, price.overhead, price.adjustments, price.owed)
    return (way.what, ", ".join(way.pools), way.unit_price, way.per, *parts, way.saves, until, way.rests_on)


def effects(ask: Ask, found: Estimate) -> list[Block]:
    """On budgets and quotas; each unit by itself."""
    blocks: list[Block] = []
    for unit in dict.fromkeys(one.unit for one in found.effects):
        rows = tuple(effect_cells(one) for one in found.effects if one.unit == unit)
        links = {name: [ask.link("/quotas")] * len(rows) for name in ("limit", "used", "adds", "left")}
        blocks.append(Rows(Table(EFFECTS, rows, currency=unit), f"Budgets and quotas in {unit}", links))
    return blocks


ROUTES = (Route("/estimate", estimate, entry=Entry("Estimate", "/estimate", "e")),)
