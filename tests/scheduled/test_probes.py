"""`/livez` and `/readyz`: for whoever asks, from whatever address, and without a word of the project."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from apportion.books.open import Books
from apportion.errors import BooksError
from apportion.web.app import create_app


def test_probes_answer_anybody_and_nothing_else_does(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with TestClient(create_app(tiny), "http://10.0.0.7:8765") as client:  # as a kubelet asks
        for path in ("/livez", "/readyz"):
            answer = client.get(path)
            assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
            assert answer.headers["cache-control"] == "private, no-store"
        assert client.get("/login").status_code == 400  # its host is not ours

        def gone(_: Books) -> str:
            raise BooksError("database-failed", "the database at db.internal failed")

        monkeypatch.setattr(Books, "head", gone)
        assert client.get("/livez").status_code == 200
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()) == (503, {"status": "unavailable"})
