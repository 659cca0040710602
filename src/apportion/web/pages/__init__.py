"""One page, one file: a function from what was asked to a `Page`, and one line here. Order is that of the navigation."""

from apportion.web.pages import admin, audit, ledger, overview, tokens
from apportion.web.routes import Action, Download, Route

ROUTES: tuple[Route, ...] = (*overview.ROUTES, *ledger.ROUTES, *admin.ROUTES, *audit.ROUTES, *tokens.ROUTES)
ACTIONS: tuple[Action, ...] = (*ledger.ACTIONS, *admin.ACTIONS, *tokens.ACTIONS)
DOWNLOADS: tuple[Download, ...] = (*ledger.DOWNLOADS,)
