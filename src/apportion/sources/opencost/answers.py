"""Bodies of answers: an envelope in two versions, around allocations, assets or cloud costs; errors as JSON, as text, or as text with JSON after it.

A bad window on `/allocation` is answered with a line of text after which the handler goes on and appends JSON. NaN is written as null.
"""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from apportion.errors import InputError

GOOD = 200
ALLOCATIONS, ASSETS, CLOUD_COSTS = "allocations", "assets", "cloud costs"


def data_of(body: bytes, where: str) -> Any:
    """What the envelope holds, or the server's own words as an error."""
    text = body.decode("utf-8", "replace").strip()
    try:
        found = json.loads(text, parse_float=Decimal, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise refused(text, where) from error
    if not isinstance(found, Mapping) or "data" not in found:
        raise InputError(
            "bad-response",
            f"there is no data in what was answered: {text[:80]!r}",
            where=where,
            hint="see url and flavour of the source: Kubecost answers below /model",
        )
    if found.get("code", GOOD) != GOOD or found.get("status", "success") != "success" or found["data"] is None:
        raise InputError("bad-response", f"the server refused: {str(found.get('message') or text)[:200]}", where=where)
    return found["data"]


def refused(text: str, where: str) -> InputError:
    """Text, a page of HTML, or text with JSON behind it: the first line says it."""
    said = " ".join(text.split("{", 1)[0].split())[:120] or text[:60]
    return InputError(
        "bad-response",
        f"the answer is not JSON but begins with {said!r}",
        where=where,
        hint="see url and flavour of the source: Kubecost answers below /model, and a login page is not an answer",
    )


def sets_of(data: Any) -> list[Mapping[str, Any]]:
    """Maps of name to row: `data` is one, or a list of them in which a step without data is empty, null or absent."""
    if isinstance(data, Mapping) and isinstance(data.get("sets"), list):
        data = [one.get("cloudCosts") for one in data["sets"] if isinstance(one, Mapping)]
    return [one for one in (data if isinstance(data, list) else [data]) if isinstance(one, Mapping)]


def entries(data: Any) -> Iterator[tuple[str, Any]]:
    for one in sets_of(data):
        yield from one.items()


def kind_of(data: Any, where: str) -> str:
    """Which question a saved answer belongs to; empty where it says nothing."""
    sets = data.get("sets") if isinstance(data, Mapping) else None
    if isinstance(sets, list):
        if any(isinstance(one, Mapping) and "allocations" in one for one in sets):
            raise InputError(
                "bad-response",
                "this is a summary of allocations, which has no hours",
                where=where,
                hint="save the answer of /allocation, not of /allocation/summary",
            )
        return CLOUD_COSTS
    row = next((row for _, row in entries(data) if isinstance(row, Mapping)), None)
    if row is None:
        return ""
    return ASSETS if "type" in row else ALLOCATIONS
