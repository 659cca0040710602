"""What tests read from answers: links as a browser follows them, and tables by heading."""

from html.parser import HTMLParser
from typing import Any

from fastapi.testclient import TestClient


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.href = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.href = dict(attrs).get("href") or "" if tag == "a" else self.href

    def handle_data(self, data: str) -> None:
        if self.href:
            self.found.append((data, self.href))

    def handle_endtag(self, tag: str) -> None:
        self.href = "" if tag == "a" else self.href


def links(text: str) -> list[tuple[str, str]]:
    """Text and address of every link, in their order."""
    reader = Links()
    reader.feed(text)
    return reader.found


def table(page: dict[str, Any], heading: str) -> list[dict[str, Any]]:
    """Rows of a table of a page's JSON; those of charts stand without a heading."""
    return next(one["rows"] for one in page["tables"] if one["heading"] == heading)


def same_answer(client: TestClient, theirs: str, nobodys: str) -> bool:
    """Whether what is another's and what does not exist get the same answer, but for the name that was asked for."""
    for form in ("", ".json", ".csv"):
        foreign, missing = client.get(theirs + form), client.get(nobodys + form)
        if (foreign.status_code, foreign.text) != (404, missing.text) or missing.status_code != 404:
            return False
        if dict(foreign.headers) != dict(missing.headers):
            return False
    return True
