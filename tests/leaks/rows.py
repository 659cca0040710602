"""What is asked of the API and of forms, by name; a parameter or a form without a row fails."""

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
# Those that name nobody, and what they are filled with where one is needed.
HARMLESS = {
    "period": "2026-10",
    "as_of": "",
    "by": "",
    "name": "showback",
    "pool": "gpus",
    "version": "1",
    "limit": "",
    "after": "",
    "before": "",
    "kind": "",
    "from": "",
    "to": "",
}
# Fields of a form or of a body, by method and path.
FORMS: dict[tuple[str, str], dict[str, str]] = {
    ("POST", "/ledger/verify"): {},
}
