"""The REST API: one resource, one file, from the same verbs as the command line. What it promises stands in `client/`."""

from fastapi import APIRouter

from apportion.web.api import (
    adjustments,
    advice,
    anomalies,
    budgets,
    disputes,
    drafts,
    estimates,
    explain,
    forecasts,
    health,
    ledger,
    me,
    owners,
    periods,
    pledges,
    policies,
    prices,
    reports,
    reviews,
    runs,
    search,
    statements,
    tokens,
    usage,
    webhooks,
    whatifs,
)

ROOMS = (
    me, tokens, periods, reports, advice, owners, runs, search, explain, estimates, prices, forecasts, ledger, statements, disputes,
    adjustments, anomalies, budgets, pledges, policies, drafts, whatifs, reviews, health, webhooks, usage,
)  # fmt: skip
API = APIRouter(prefix="/api/v1", generate_unique_id_function=lambda route: route.name)
for room in ROOMS:
    API.include_router(room.router)
