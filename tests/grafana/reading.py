"""What a dashboard asks: its panels, their queries, and queries as Grafana sends them once somebody has chosen."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

Json = dict[str, Any]
CHOSEN = {  # what people may have chosen; a panel that is empty for one of them is fine, for all of them it is not
    "state": ("posted", "estimated"),
    "team": ("vision", "speech", "vision|speech"),  # the last one is two of them, as for all
    "pool": ("gpus",),
    "currency": ("USD",),
    "period": ("2026-09", "2026-10"),
}
VARIABLE = re.compile(r"\$\{(\w+)(?::(\w+))?\}|\$(\w+)")


def panels(dashboard: Json) -> Iterator[Json]:
    """Those of folded rows, too."""
    for panel in dashboard["panels"]:
        if panel["type"] != "row":
            yield panel
        yield from (inner for inner in panel.get("panels", ()))


def targets(dashboard: Json, key: str) -> Iterator[tuple[str, Json]]:
    for panel in panels(dashboard):
        yield from ((panel["title"], target) for target in panel["targets"] if key in target)


def choices(text: str) -> Iterator[dict[str, str]]:
    names = {found[1] or found[3] for found in VARIABLE.finditer(text)} & CHOSEN.keys()
    for values in product(*(CHOSEN[name] for name in sorted(names))):
        yield dict(zip(sorted(names), values, strict=True))


def sent(text: str, chosen: Mapping[str, str]) -> str:
    """A variable that nobody could choose is a mistake."""

    def value(found: "re.Match[str]") -> str:
        some = chosen[found[1] or found[3]].split("|")
        if found[2] == "sqlstring":
            return ",".join("'" + one.replace("'", "''") + "'" for one in some)
        return some[0] if len(some) == 1 else f"({'|'.join(some)})"

    return VARIABLE.sub(value, text)
