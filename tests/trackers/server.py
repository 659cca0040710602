"""MLflow and W&B on loopback, as far as their documents say how they answer: filters, pages, errors."""

import json
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.loopback import listening

COMPARISON = re.compile(r"attributes\.(\w+) (>=|<|=) '?(\w+)'?")


def mlflow_run(number: int, start_s: int, end_s: int | None, tags: Mapping[str, str], **params: str) -> dict[str, Any]:
    info = {
        "run_id": f"run-{number}", "run_name": f"brave-fox-{number}", "experiment_id": "7", "user_id": "ann", "start_time": start_s * 1000,
        "status": "RUNNING" if end_s is None else "FINISHED", **({} if end_s is None else {"end_time": end_s * 1000}),
    }  # fmt: skip
    pairs = {"tags": tags, "params": params}
    return {
        "info": info,
        "data": {name: [{"key": k, "value": v} for k, v in own.items()] for name, own in pairs.items()},
    }


@dataclass
class Fake:
    runs: list[dict[str, Any]] = field(default_factory=list)
    page: int = 2
    password: str = ""
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    url: str = ""

    def answer(self, path: str, body: dict[str, Any], login: str) -> tuple[int, Any]:
        self.asked.append((path, body))
        if self.password and b64decode(login.removeprefix("Basic ")).decode() != f"api:{self.password}":
            return 401, {"error": "no"}
        if path == "/graphql":
            return self.graphql(body["variables"])
        if path == "/api/2.0/mlflow/experiments/search":
            return 200, {"experiments": [{"experiment_id": "7", "name": "resnet"}]}
        if path == "/api/2.0/mlflow/runs/search" and body["experiment_ids"] == ["7"]:
            found = [
                run
                for run in self.runs
                if all(holds(run["info"], one) for one in COMPARISON.findall(body.get("filter", "")))
            ]
            return 200, self.paged(found, body.get("page_token", ""))
        return 404, {"error_code": "ENDPOINT_NOT_FOUND"}

    def paged(self, found: list[Any], token: str) -> dict[str, Any]:
        first = int(token or 0)
        rest = first + self.page
        return {"runs": found[first:rest], **({"next_page_token": str(rest)} if rest < len(found) else {})}

    def graphql(self, asked: dict[str, Any]) -> tuple[int, Any]:
        if asked["project"] != "pretraining":
            return 200, {"data": {"project": None}, "errors": [{"message": "could not find project"}]}
        alive = json.loads(asked.get("filters", "{}"))
        created, beat = alive.get("createdAt", {}).get("$lt", "9"), alive.get("heartbeatAt", {}).get("$gte", "0")
        found = [run for run in self.runs if run["createdAt"] < created and run["heartbeatAt"] >= beat]
        first = int(asked.get("after") or 0)
        rest = first + self.page
        page = {"endCursor": str(rest), "hasNextPage": rest < len(found)}
        edges = [{"node": run} for run in found[first:rest]]
        return 200, {"data": {"project": {"runs": {"edges": edges, "pageInfo": page}}}}


def holds(info: Mapping[str, Any], comparison: tuple[str, str, str]) -> bool:
    name, sign, value = comparison
    own = info.get(name)
    if own is None:
        return False
    if sign == "=":
        return bool(own == value)
    return bool(own >= int(value)) if sign == ">=" else bool(own < int(value))


@contextmanager
def serving(fake: Fake) -> Iterator[Fake]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, found = fake.answer(self.path, body, self.headers.get("Authorization", ""))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

        def log_message(self, *_: object) -> None:
            pass

    with listening(Handler) as fake.url:
        yield fake
