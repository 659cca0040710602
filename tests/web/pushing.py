"""A row as programs push it, and the source that takes it."""

START = 1_791_000_000
ROW = {
    "workload": "w1",
    "meter": "gpu",
    "resource": "node-1",
    "start_s": START,
    "end_s": START + 3600,
    "allocated": 504_000,
}
STANZA = '\n[[sources]]\nname = "pushed"\nkind = "push"\n'
