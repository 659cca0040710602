"""Apportion says who owes what for shared ML training infrastructure, and can prove it.

The verbs of the command line as functions that return values (dataclasses and Arrow tables) and never print:

    import apportion

    project = apportion.open_project("demo")
    report = apportion.report(project, "showback", "2026-10")
    print(report.title)
    report.to_arrow()

Names are looked up when first used, so that `import apportion` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apportion.client.client import Client
    from apportion.errors import ApportionError, InvariantError, Problem
    from apportion.verbs.adjust import adjust
    from apportion.verbs.adjustments import adjustments
    from apportion.verbs.advise import advise, realised
    from apportion.verbs.anomalies import anomalies
    from apportion.verbs.apply import apply
    from apportion.verbs.audit import audit
    from apportion.verbs.backtest import backtest
    from apportion.verbs.backup import backup, restore
    from apportion.verbs.budget import budgets, set_budget
    from apportion.verbs.check import check
    from apportion.verbs.close import close
    from apportion.verbs.cost import cost
    from apportion.verbs.datadog import export_datadog, push_gauges
    from apportion.verbs.demo import demo
    from apportion.verbs.dispute import dispute, disputes, open_dispute, say, settle
    from apportion.verbs.draft import adopt, draft, drafts, drop, propose
    from apportion.verbs.enforce import apply_enforcement, enforce, undo_enforcement
    from apportion.verbs.enforce_kubernetes import apply_kubernetes, enforce_kubernetes, undo_kubernetes
    from apportion.verbs.erase import erase
    from apportion.verbs.estimate import estimate
    from apportion.verbs.excel import export_excel
    from apportion.verbs.explain import explain
    from apportion.verbs.fairness import fairness
    from apportion.verbs.fit import fit
    from apportion.verbs.focus import export_focus
    from apportion.verbs.forecast import forecast, forecast_backtest
    from apportion.verbs.gc import gc
    from apportion.verbs.ingest import ingest
    from apportion.verbs.init import init
    from apportion.verbs.journal import export_journal, journal
    from apportion.verbs.ledger import ledger
    from apportion.verbs.lend import give_back, lend
    from apportion.verbs.methods import method, methods
    from apportion.verbs.nodes import nodes
    from apportion.verbs.plan import plan
    from apportion.verbs.prices import prices
    from apportion.verbs.project import open_project
    from apportion.verbs.quota import quotas
    from apportion.verbs.report import report
    from apportion.verbs.reserve import post_reservation, reserve, void_reservation
    from apportion.verbs.review import review
    from apportion.verbs.split import split
    from apportion.verbs.tableau import export_tableau
    from apportion.verbs.verify import verify
    from apportion.verbs.views import drop_views, duckdb_views, views
    from apportion.verbs.whatif import whatif

__version__ = "0.1.0"
__all__ = [
    "ApportionError", "Client", "InvariantError", "Problem", "adjust", "adjustments", "adopt", "advise", "anomalies", "apply", "apply_enforcement",
    "apply_kubernetes", "audit", "backtest", "backup", "budgets", "check", "close", "cost", "demo", "dispute", "disputes", "draft", "drafts", "drop",
    "drop_views", "duckdb_views",    "enforce", "enforce_kubernetes", "erase", "estimate", "explain", "export_datadog", "export_excel", "export_focus",
    "export_journal", "export_tableau", "fairness", "fit", "forecast",
    "forecast_backtest", "gc", "give_back", "ingest", "init", "journal", "ledger", "lend", "method", "methods", "nodes", "open_dispute",
    "open_project", "plan", "post_reservation", "prices", "propose", "push_gauges", "quotas", "realised", "report", "reserve", "restore", "review", "say",
    "set_budget", "settle", "split", "undo_enforcement", "undo_kubernetes", "verify", "views", "void_reservation", "whatif",
]  # fmt: skip

_ROOMS = {"ApportionError": "errors", "Client": "client.client", "InvariantError": "errors", "Problem": "errors"}
_FILES = {
    "open_project": "project", "restore": "backup", "method": "methods", "export_journal": "journal", "export_focus": "focus",
    "disputes": "dispute", "open_dispute": "dispute", "say": "dispute", "settle": "dispute", "budgets": "budget", "set_budget": "budget", "quotas": "quota",
    "adopt": "draft", "drafts": "draft", "drop": "draft", "propose": "draft", "apply_enforcement": "enforce", "undo_enforcement": "enforce",
    "forecast_backtest": "forecast",
    "realised": "advise",
    "apply_kubernetes": "enforce_kubernetes", "undo_kubernetes": "enforce_kubernetes", "post_reservation": "reserve", "void_reservation": "reserve",
    "give_back": "lend",
    "export_datadog": "datadog", "push_gauges": "datadog", "export_excel": "excel", "export_tableau": "tableau", "drop_views": "views",
    "duckdb_views": "views",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'apportion' has no attribute {name!r}")
    room = _ROOMS.get(name) or f"verbs.{_FILES.get(name, name)}"
    return getattr(import_module(f"apportion.{room}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
