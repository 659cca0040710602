"""One page, one file: a function from what was asked to a `Page`, and one line here. Order is that of the navigation."""

from apportion.web.pages import ledger, overview
from apportion.web.routes import Action, Download, Route

ROUTES: tuple[Route, ...] = (*overview.ROUTES, *ledger.ROUTES)
ACTIONS: tuple[Action, ...] = (*ledger.ACTIONS,)
DOWNLOADS: tuple[Download, ...] = (*ledger.DOWNLOADS,)
