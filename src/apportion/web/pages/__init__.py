"""One page, one file: a function from what was asked to a `Page`, and one line here. Order is that of the navigation."""

from apportion.web.pages import (
    adjustments,
    admin,
    api,
    audit,
    disputes,
    drafts,
    explain,
    health,
    idle,
    ledger,
    live,
    methods,
    overview,
    policy,
    pools,
    quotas,
    runs,
    search,
    statements,
    teams,
    tokens,
    users,
    webhooks,
    whatif,
)
from apportion.web.routes import Action, Download, Route

PAGES = (
    overview,
    teams,
    users,
    runs,
    search,
    pools,
    idle,
    explain,
    live,
    quotas,
    statements,
    disputes,
    adjustments,
    ledger,
    policy,
    whatif,
    drafts,
    health,
    methods,
    admin,
    audit,
    tokens,
    webhooks,
    api,
)
ROUTES: tuple[Route, ...] = tuple(route for page in PAGES for route in page.ROUTES)
ACTIONS: tuple[Action, ...] = tuple(action for page in PAGES for action in getattr(page, "ACTIONS", ()))
DOWNLOADS: tuple[Download, ...] = tuple(download for page in PAGES for download in getattr(page, "DOWNLOADS", ()))
