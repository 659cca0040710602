"""DuckDB draws a bar of its progress on stdout where Python has no main file, as in workers and notebooks. Ours does not: something reads that."""

import sys

from tests import processes

ASKED = "select current_setting('enable_progress_bar')"
SCRIPT = f"""
import duckdb, pyarrow
from apportion.books.digest import query
from apportion.engine.backends.duckdb import connect_duckdb
for one in (duckdb, connect_duckdb().connection.con):
    print(one.execute("{ASKED}").fetchone()[0])
print(query("{ASKED} as said", pyarrow.table({{"row": [1]}}))["said"][0])
"""


def test_no_bar_is_drawn_where_one_would_be() -> None:
    said = processes.run([sys.executable, "-c", SCRIPT], text=True, check=True)
    assert said.stdout.split() == ["True", "False", "False"]
