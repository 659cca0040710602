"""What is asked of the API and of forms, by name; a parameter or a form without a row fails."""

from tests.web import world

# Of the API's parameters: those that can name somebody, and with what they are filled.
NAMING = {
    "team": "{team}",
    "owner": "{owner}",
    "project": "{project}",
    "user": "{user}",
    "run": "{run}",
    "job": "{run}",
    "number": "{number}",
    "where": "team%3D{team}",
    "what": "{team}",
    "q": "{user}",
}
# Where a name like these means something else.
OTHERWISE = {("/api/v1/audit", "what"), ("/api/v1/reports/{name}", "owner")}
# Those that name nobody, and what they are filled with where one is needed.
HARMLESS = {
    "period": "2026-10",
    "days": "",
    "as_of": "",
    "by": "",
    "name": "showback",
    "saved": world.SAVED,
    "pool": "gpus",
    "token": "0123456789",
    "hook": "0123456789",
    "anomaly": "0123456789",
    "version": "file",
    "cursor": "",
    "level": "",
    "status": "",
    "source": "pushed",
    "table": "",
    "strict": "",
    "start_s": "",
    "end_s": "",
    "Idempotency-Key": "",
    "limit": "",
    "after": "",
    "before": "",
    "kind": "",
    "through": "",
    "since": "",
    "from": "",
    "to": "",
}
# Other questions of a path, beside those that its parameters make: a query, or all of a URL.
MORE = {
    "/api/v1/reports/{name}": ("/api/v1/reports/trend?period=2026-10&owner={owner}",),
    "/statements/{period}/{owner}/download": tuple(f"format={form}" for form in ("csv", "html", "json", "md")),
    "/api/v1/explain": tuple(f"period=2026-10&what={what}" for what in ("job:{run}", "posting:{posting}")),
}
# The door itself, and what lies open: method, path, query. Nobody has to be logged in for it, and it tells of nobody.
DOOR = (
    ("GET", "/login", ""),
    ("GET", "/login", "?to=/teams/{team}"),
    ("GET", "/login", "?link={run}"),
    ("GET", "/login/start", "?to=/teams/{team}"),
    ("GET", "/login/callback", "?state={run}&code=1"),
    ("POST", "/logout", ""),
    ("GET", "/logout/done", ""),
    ("GET", "/static", "/apportion.css"),
    ("GET", "/static", "/{team}.css"),
    ("GET", "/api/v1/openapi.json", ""),
    ("GET", "/livez", "?team={team}"),
    ("GET", "/readyz", "?team={team}"),
)
OPEN = frozenset(path for _, path, _ in DOOR)
# Paths that are neither page nor API, for those who bring a token or are logged in.
PLAIN = (("GET", "/metrics", ""),)
# Fields of a form or of a body, by method and path; what stands in [] is a list.
DOUBT = {"period": "2026-10", "what": "{team}", "why": "not ours"}
CREDIT = {"period": "2026-10", "sponsor": "platform", "amount": "1.00", "why": "a node was down"}
SETTLED = {"outcome": "rejected", "why": "it was theirs"}
RULE = {"label": "slurm.account", "value": "odd-one", "team": "{team}", "project": "{project}", "why": "it is theirs"}
GRANT = {"label": "x", "role": "viewer", "teams": "{team}", "deeds": "read", "days": "1"}
BUDGET = {"team": "{team}", "project": "{project}", "amount": "100", "since": "2026-11", "why": "agreed"}
HOOK = {"what": "add", "url": "https://127.0.0.1/", "events": "posted", "teams": "{team}"}
FORMS: dict[tuple[str, str], dict[str, str]] = {
    ("POST", "/quotas/budget"): BUDGET,
    ("POST", "/anomalies"): {"id": "{run}", "why": "known"},
    ("POST", "/disputes"): DOUBT,
    ("POST", "/disputes/{number}/say"): {"text": "we wonder"},
    ("POST", "/disputes/{number}/settle"): SETTLED,
    ("POST", "/adjustments"): {**CREDIT, "team": "{team}"},
    ("POST", "/ledger/verify"): {},
    ("POST", "/review/draft"): {"period": "2026-10", "key": "dominant:gpus:{team}", "team": "{team}"},
    ("POST", "/drafts/setting"): {"pool": "gpus", "method": "proportional", "why": "{project}"},
    ("POST", "/what-if/save"): {"pool": "gpus", "idle": "even", "name": ""},
    ("POST", "/what-if/saved/{saved}/draft"): {"why": "{project}"},
    ("POST", "/what-if/saved/{saved}/forget"): {},
    ("POST", "/drafts/text"): {"text": "policy: small", "why": "{project}"},
    ("POST", "/drafts/owner"): RULE,
    ("POST", "/drafts/{number}/adopt"): {},
    ("POST", "/drafts/{number}/drop"): {"why": "no"},
    ("POST", "/admin/sessions"): {"name": "{user}"},
    ("POST", "/tokens"): GRANT,
    ("POST", "/tokens/revoke"): {"token": "{run}"},
    ("POST", "/admin/tokens"): GRANT,
    ("POST", "/admin/tokens/revoke"): {"token": "{run}"},
    ("POST", "/admin/webhooks"): HOOK,
    ("POST", "/api/v1/anomalies/{anomaly}/acknowledgement"): {"why": "known"},
    ("POST", "/api/v1/disputes"): DOUBT,
    ("POST", "/api/v1/disputes/{number}/notes"): {"text": "we wonder"},
    ("POST", "/api/v1/disputes/{number}/settlement"): SETTLED,
    ("POST", "/api/v1/adjustments"): {**CREDIT, "owner": "{owner}"},
    ("POST", "/api/v1/usage"): {"workload": "{run}"},
    ("POST", "/api/v1/tokens"): {"label": "x", "role": "viewer", "teams": "[{team}]", "deeds": "[read]"},
    ("POST", "/api/v1/tokens/{token}/revocation"): {},
    ("POST", "/api/v1/budgets"): {"owner": "{team}/{project}", "amount": "100", "since": "2026-11", "why": "agreed"},
    ("POST", "/api/v1/reservations"): {"team": "{team}", "amount": "1", "job": "{run}", "project": "{project}"},
    ("POST", "/api/v1/reservations/{number}/posting"): {"actual": "1"},
    ("POST", "/api/v1/reservations/{number}/voiding"): {"why": "it does not run"},
    ("POST", "/api/v1/loans"): {
        "owner": "{team}",
        "other": "{team}/{project}",
        "amount": "1",
        "period": "2026-11",
        "why": "a paper is due",
    },
    ("POST", "/api/v1/loans/{number}/return"): {"why": "not needed"},
    ("POST", "/api/v1/drafts"): {"text": "policy: small", "why": "{project}"},
    ("POST", "/api/v1/drafts/owners"): {
        "label": "slurm.account",
        "pattern": "odd-one",
        "team": "{team}",
        "project": "{project}",
        "why": "it is theirs",
    },
    ("POST", "/api/v1/drafts/{number}/adoption"): {},
    ("POST", "/api/v1/drafts/{number}/drop"): {},
    ("POST", "/api/v1/review/drafts"): {"period": "2026-10", "key": "dominant:gpus:{team}", "team": "{team}"},
    ("POST", "/api/v1/what-if"): {"period": "2026-10", "text": "policy: {team}"},
    ("POST", "/api/v1/back-test"): {"first": "2026-09", "last": "2026-10", "policies": "[policy: {team}]"},
    ("POST", "/api/v1/what-ifs"): {
        "first": "2026-09",
        "last": "2026-10",
        "policies": "[policy: {team}]",
        "name": "{project}",
    },
    ("POST", "/api/v1/what-ifs/{saved}/end"): {},
    ("POST", "/api/v1/estimates"): {
        "team": "{team}",
        "project": "{project}",
        "hours": "2",
        "gpus": "1",
        "pool": "gpus",
    },
    ("POST", "/api/v1/webhooks"): {"url": "https://127.0.0.1/", "events": "[posted]", "teams": "[{team}]"},
    ("POST", "/api/v1/webhooks/{hook}/test"): {},
    ("POST", "/api/v1/webhooks/{hook}/end"): {},
}
