"""BigQuery's REST interface as far as its client needs it, on loopback: one table, queries by invoice month, results page by page.

It understands no SQL: which rows are wanted it takes from the parameters `month` and `since`, the columns from the names in backticks.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.google.exports import SCHEMA, Field, Row
from tests.loopback import listening

NEWEST = [
    {"name": "month", "type": "STRING", "mode": "NULLABLE"},
    {"name": "newest", "type": "TIMESTAMP", "mode": "NULLABLE"},
]


@dataclass
class Warehouse:
    rows: Sequence[Row]
    url: str = ""
    schema: list[Field] = field(default_factory=lambda: SCHEMA)
    asked: list[dict[str, Any]] = field(default_factory=list)  # queries: SQL, parameters, bound
    pages: int = 0
    fault: tuple[int, str] | None = None  # a status and a reason for every answer
    jobs: dict[str, tuple[list[Field], list[Row]]] = field(default_factory=dict)

    def table(self) -> dict[str, Any]:
        return {
            "tableReference": {"projectId": "p", "datasetId": "d", "tableId": "t"},
            "schema": {"fields": self.schema},
            "numRows": str(len(self.rows)),
            "lastModifiedTime": str(int(max(one["export_time"] for one in self.rows).timestamp() * 1000)),
            "timePartitioning": {"type": "DAY"},
            "type": "TABLE",
        }

    def insert(self, body: dict[str, Any]) -> dict[str, Any]:
        query = body["configuration"]["query"]
        values = {one["name"]: one["parameterValue"]["value"] for one in query["queryParameters"]}
        self.asked.append({"sql": query["query"], "most": query.get("maximumBytesBilled"), **values})
        since = datetime.fromisoformat(values["since"])
        found = [one for one in self.rows if one["export_time"] >= since]
        if "month" in values:
            names = re.findall(r"`(\w+)`", query["query"].partition(" FROM ")[0])
            schema = [each for each in self.schema if each["name"] in names]
            answer = schema, [one for one in found if month(one) == values["month"]]
        else:
            months = sorted({month(one) for one in found})
            newest = {name: max(one["export_time"] for one in found if month(one) == name) for name in months}
            answer = NEWEST, [{"month": name, "newest": newest[name]} for name in months]
        number = body["jobReference"]["jobId"]
        self.jobs[number] = answer
        return {**body, "status": {"state": "DONE"}, "statistics": {"query": {"statementType": "SELECT"}}}

    def results(self, number: str, asked: dict[str, str]) -> dict[str, Any]:
        schema, rows = self.jobs[number]
        first, count = int(asked.get("pageToken", "0")), int(asked.get("maxResults", "1000"))
        page = rows[first : first + count]
        self.pages += bool(page)
        token = {"pageToken": str(first + count)} if first + count < len(rows) and count else {}
        return {
            "jobReference": {"projectId": "p", "jobId": number},
            "jobComplete": True,
            "schema": {"fields": schema},
            "totalRows": str(len(rows)),
            "rows": [{"f": [{"v": value(one.get(each["name"]), each)} for each in schema]} for one in page],
            **token,
        }


def month(one: Row) -> str:
    return str(one["invoice"]["month"] or one["usage_start_time"].strftime("%Y%m"))


def value(found: Any, kind: Field, *, inside: bool = False) -> Any:
    if kind["mode"] == "REPEATED" and not inside:
        return [{"v": value(each, kind, inside=True)} for each in found or []]
    if found is None:
        return None
    if kind["type"] == "RECORD":
        return {"f": [{"v": value(found.get(each["name"]), each)} for each in kind["fields"]]}
    if kind["type"] == "TIMESTAMP":
        return str(int((found - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()) * 1_000_000)
    return str(found).lower() if isinstance(found, bool) else repr(found) if isinstance(found, float) else str(found)


class Handler(BaseHTTPRequestHandler):
    store: Warehouse

    def answer(self, found: dict[str, Any], status: int = 200) -> None:
        data = json.dumps(found).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status: int, reason: str) -> None:
        errors = [{"reason": reason, "message": f"because of {reason}"}]
        self.answer({"error": {"code": status, "message": f"because of {reason}", "errors": errors}}, status)

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = {key: found[0] for key, found in parse_qs(parts.query).items()}
        if self.store.fault:
            self.refuse(*self.store.fault)
        elif "/tables/" in parts.path:
            self.answer(self.store.table())
        elif "/queries/" in parts.path:
            self.answer(self.store.results(parts.path.rpartition("/")[2], asked))
        else:
            self.refuse(404, "notFound")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(self.store.insert(body))

    def log_message(self, *_: object) -> None:
        """Quiet."""


@contextmanager
def bigquery(rows: Sequence[Row]) -> Iterator[Warehouse]:
    store = Warehouse(rows)
    with listening(type("Own", (Handler,), {"store": store})) as url:
        store.url = url
        yield store
