"""One page, one file: a function from what was asked to a `Page`, and one line here. Order is that of the navigation."""

from apportion.web.pages import admin, audit, ledger, overview, tokens
from apportion.web.routes import Action, Download, Route

ROUTES: tuple[Route, ...] = (*overview.ROUTES, *ledger.ROUTES, *admin.ROUTES, *audit.ROUTES, *tokens.ROUTES)
ACTIONS: tuple[Action, ...] = (*ledger.ACTIONS, *admin.ACTIONS, *tokens.ACTIONS)
from apportion.web.pages import ledger, overview, runs, search, teams, users
from apportion.web.routes import Action, Download, Route

ROUTES: tuple[Route, ...] = (
    *overview.ROUTES,
    *teams.ROUTES,
    *users.ROUTES,
    *runs.ROUTES,
    *search.ROUTES,
    *ledger.ROUTES,
)
ACTIONS: tuple[Action, ...] = (*ledger.ACTIONS,)
DOWNLOADS: tuple[Download, ...] = (*ledger.DOWNLOADS,)
