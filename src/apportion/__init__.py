"""Apportion says who owes what for shared ML training infrastructure, and can prove it.

The verbs of the command line as functions. They return values and never print; a value reads as its sentence and its table, at a prompt or in a
notebook, and `to_arrow()` has every row with every digit:

    import apportion as ap

    project = ap.open_project("demo")
    owed = ap.report(project, "showback", "2026-10")
    owed.to_arrow()

Names are looked up when first used, so that `import apportion` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from apportion.model.result import Result

if TYPE_CHECKING:
    from apportion.client.client import Client
    from apportion.errors import ApportionError, InvariantError, Problem
    from apportion.verbs.accept import accept
    from apportion.verbs.adjust import Wish as CreditWish
    from apportion.verbs.adjust import adjust
    from apportion.verbs.adjustments import adjustments
    from apportion.verbs.advise import advise, realised
    from apportion.verbs.anomalies import acknowledge, anomalies
    from apportion.verbs.apply import apply
    from apportion.verbs.audit import audit
    from apportion.verbs.backtest import Wanted as BacktestWish
    from apportion.verbs.backtest import backtest
    from apportion.verbs.backup import backup, restore
    from apportion.verbs.budget import budgets, set_budget
    from apportion.verbs.check import check
    from apportion.verbs.close import close
    from apportion.verbs.cost import cost
    from apportion.verbs.datadog import export_datadog, push_gauges
    from apportion.verbs.demo import demo
    from apportion.verbs.dispute import Doubt, Settlement, dispute, disputes, open_dispute, say, settle
    from apportion.verbs.draft import adopt, draft, drafts, drop, propose
    from apportion.verbs.efficiency import efficiency
    from apportion.verbs.enforce import apply_enforcement, enforce, undo_enforcement
    from apportion.verbs.enforce_kubernetes import apply_kubernetes, enforce_kubernetes, undo_kubernetes
    from apportion.verbs.erase import erase
    from apportion.verbs.estimate import estimate
    from apportion.verbs.excel import export_excel
    from apportion.verbs.explain import explain
    from apportion.verbs.facets import facets
    from apportion.verbs.fairness import fairness
    from apportion.verbs.fit import fit
    from apportion.verbs.focus import export_focus
    from apportion.verbs.forecast import forecast, forecast_backtest
    from apportion.verbs.gc import gc
    from apportion.verbs.hooks import add_hook, try_hook
    from apportion.verbs.ingest import ingest
    from apportion.verbs.init import Wishes as ProjectWish
    from apportion.verbs.init import init
    from apportion.verbs.journal import export_journal, journal
    from apportion.verbs.ledger import ledger
    from apportion.verbs.lend import Loan, give_back, lend
    from apportion.verbs.live import live
    from apportion.verbs.methods import method, methods
    from apportion.verbs.months import months
    from apportion.verbs.nodes import nodes
    from apportion.verbs.notify import deliver, try_channels
    from apportion.verbs.plan import plan
    from apportion.verbs.pools import pool, pools
    from apportion.verbs.prices import Wish as PriceWish
    from apportion.verbs.prices import prices
    from apportion.verbs.project import open_project
    from apportion.verbs.quota import quotas
    from apportion.verbs.reconcile import reconciled
    from apportion.verbs.report import report
    from apportion.verbs.reserve import Wish as ReservationWish
    from apportion.verbs.reserve import all_pledges, post_reservation, reserve, void_reservation
    from apportion.verbs.review import review
    from apportion.verbs.runs import runs
    from apportion.verbs.split import split
    from apportion.verbs.statement import Wanted as StatementWish
    from apportion.verbs.statement import told_statements as statements
    from apportion.verbs.sync import sync
    from apportion.verbs.tableau import export_tableau
    from apportion.verbs.tokens import tokens
    from apportion.verbs.verify import verify
    from apportion.verbs.views import drop_views, duckdb_views, views
    from apportion.verbs.waste import waste
    from apportion.verbs.whatif import whatif

__version__ = "0.1.0"
__all__ = [
    "ApportionError", "BacktestWish", "Client", "CreditWish", "Doubt", "InvariantError", "Loan", "PriceWish", "Problem", "ProjectWish", "ReservationWish",
    "Settlement", "StatementWish", "accept", "acknowledge", "add_hook", "adjust", "adjustments", "adopt", "advise", "all_pledges", "anomalies", "apply",
    "apply_enforcement", "apply_kubernetes", "audit", "backtest", "backup", "budgets", "check", "close", "cost", "deliver", "demo", "dispute", "disputes",
    "draft", "drafts", "drop", "drop_views", "duckdb_views", "efficiency", "enforce", "enforce_kubernetes", "erase", "estimate", "explain",
    "export_datadog", "export_excel", "export_focus", "export_journal", "export_tableau", "facets", "fairness", "fit", "forecast", "forecast_backtest",
    "gc", "give_back", "ingest", "init", "journal", "ledger", "lend", "live", "method", "methods", "months", "nodes", "open_dispute", "open_project",
    "plan", "pool", "pools", "post_reservation", "prices", "propose", "push_gauges", "quotas", "realised", "reconciled", "report", "reserve", "restore",
    "review", "runs", "say", "set_budget", "settle", "split", "statements", "sync", "tokens", "try_channels", "try_hook", "undo_enforcement",
    "undo_kubernetes", "verify", "views", "void_reservation", "waste", "whatif",
]  # fmt: skip

# Where a name is, and what it is called there; a verb is in the file of its name unless it says otherwise.
_PLACES = {
    "ApportionError": "errors", "BacktestWish": "verbs.backtest:Wanted", "Client": "client.client", "CreditWish": "verbs.adjust:Wish",
    "Doubt": "verbs.dispute", "InvariantError": "errors", "Loan": "verbs.lend", "PriceWish": "verbs.prices:Wish", "Problem": "errors",
    "ProjectWish": "verbs.init:Wishes", "ReservationWish": "verbs.reserve:Wish", "Settlement": "verbs.dispute", "StatementWish": "verbs.statement:Wanted",
    "acknowledge": "verbs.anomalies", "add_hook": "verbs.hooks", "adopt": "verbs.draft", "all_pledges": "verbs.reserve",
    "apply_enforcement": "verbs.enforce", "apply_kubernetes": "verbs.enforce_kubernetes", "budgets": "verbs.budget", "deliver": "verbs.notify",
    "disputes": "verbs.dispute", "drafts": "verbs.draft", "drop": "verbs.draft", "drop_views": "verbs.views", "duckdb_views": "verbs.views",
    "export_datadog": "verbs.datadog", "export_excel": "verbs.excel", "export_focus": "verbs.focus", "export_journal": "verbs.journal",
    "export_tableau": "verbs.tableau", "forecast_backtest": "verbs.forecast", "give_back": "verbs.lend", "method": "verbs.methods",
    "open_dispute": "verbs.dispute", "open_project": "verbs.project", "pool": "verbs.pools", "post_reservation": "verbs.reserve", "propose": "verbs.draft",
    "push_gauges": "verbs.datadog", "quotas": "verbs.quota", "realised": "verbs.advise", "reconciled": "verbs.reconcile", "restore": "verbs.backup",
    "say": "verbs.dispute", "set_budget": "verbs.budget", "settle": "verbs.dispute", "statements": "verbs.statement:told_statements",
    "try_channels": "verbs.notify", "try_hook": "verbs.hooks", "undo_enforcement": "verbs.enforce", "undo_kubernetes": "verbs.enforce_kubernetes",
    "void_reservation": "verbs.reserve",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'apportion' has no attribute {name!r}")
    room, _, called = _PLACES.get(name, f"verbs.{name}").partition(":")
    return getattr(import_module(f"apportion.{room}"), called or name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _look() -> Any:
    """Values are shown by `render`, which none of them may know: here the rooms meet."""
    return import_module("apportion.render.notebook")


Result.look = _look
