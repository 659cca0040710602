"""A row as programs push it, and the source that takes it."""

START = 1_791_000_000
ROW = {
    "workload": "w1",
    "resource": "node-1",
    "start_s": START,
    "end_s": START + 3600,
    "gpu": 1,
}
STANZA = '\n[[sources]]\nname = "pushed"\nkind = "push"\n'
