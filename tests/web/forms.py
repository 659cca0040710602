"""Forms as a browser sends them: with the token of the page that they stand on."""

import re
from typing import TYPE_CHECKING

from fastapi.testclient import TestClient

if TYPE_CHECKING:
    from httpx2 import Response


def sent(client: TestClient, page: str, action: str, **fields: str) -> "Response":
    """The answer to a form of a page, without following where it leads."""
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', client.get(page).text)
    token = found[1] if found else ""
    return client.post(action, data={"csrf": token, **fields}, follow_redirects=False)
