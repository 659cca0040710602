"""An API server on loopback that can be written to: what tests/kubernetes serves, and create, update and delete as a real one does them."""

import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any

from apportion.sources.kubernetes.objects import KINDS
from tests.kubernetes.objects import Object, made
from tests.kubernetes.server import Handler, Recorded

PLURALS = {kind.plural: kind.name for kind in KINDS}


class Writable(Handler):
    def there(self) -> tuple[str, str, str]:
        """Kind, namespace and name of a path; the name is empty for a collection."""
        parts = self.path.partition("?")[0].strip("/").split("/")
        parts = parts[2:] if parts[0] == "api" else parts[3:]
        space = parts[1] if parts[0] == "namespaces" and len(parts) > 2 else ""
        rest = parts[2:] if space else parts
        return PLURALS[rest[0]], space, rest[1] if len(rest) > 1 else ""

    def found(self) -> Object | None:
        kind, space, name = self.there()
        for one in self.recorded.objects:
            head = one["metadata"]
            if (one["kind"], head.get("namespace", ""), head["name"]) == (kind, space, name):
                return one
        return None

    def body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers["content-length"])))

    def do_GET(self) -> None:  # noqa: N802 - as http.server calls it
        path = self.path.partition("?")[0]
        if path in ("/version", "/apis") or not self.there()[2]:
            super().do_GET()
        elif self.allowed():
            one = self.found()
            self.answer(200, one) if one else self.status(404, "NotFound", "not found")

    def do_POST(self) -> None:  # noqa: N802 - as http.server calls it
        document = self.body()
        if not self.allowed():
            return
        name = document["metadata"]["name"]
        self.path = f"{self.path}/{name}"
        if self.found():
            self.status(409, "AlreadyExists", f'"{name}" already exists')
            return
        document["metadata"]["resourceVersion"] = "1"
        self.recorded.objects.append(document)
        self.answer(201, document)

    def do_PUT(self) -> None:  # noqa: N802 - as http.server calls it
        document = self.body()
        if not self.allowed():
            return
        one = self.found()
        if one is None or one["metadata"]["resourceVersion"] != document["metadata"]["resourceVersion"]:
            self.status(409, "Conflict", "the object has been modified")
            return
        document["metadata"]["resourceVersion"] += "1"
        one.clear()
        one.update(document)
        self.answer(200, one)

    def do_DELETE(self) -> None:  # noqa: N802 - as http.server calls it
        if not self.allowed():
            return
        one = self.found()
        if one is None:
            self.status(404, "NotFound", "not found")
            return
        self.recorded.objects.remove(one)
        self.answer(200, {"kind": "Status", "status": "Success"})


@contextmanager
def writable(objects: Iterable[Object]) -> Iterator[Recorded]:
    recorded = Recorded(list(objects))
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Writable,), {"recorded": recorded}))
    server.daemon_threads = True
    recorded.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield recorded
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def space(name: str) -> Object:
    return made("v1", "Namespace", name)


def flavour(name: str) -> Object:
    return made("kueue.x-k8s.io/v1beta1", "ResourceFlavor", name, spec={})
