"""The one-time link that `apportion serve` prints on loopback, as Jupyter does: good once, for whoever can read the terminal."""

import json

from apportion.books.audit import user
from apportion.books.doors import Doors, Person

LINK = "link"
LINK_LASTS_S = 900


def new_link(doors: Doors, address: str, role: str = "admin", teams: frozenset[str] | None = None) -> str:
    value = json.dumps({"name": user(), "role": role, "teams": None if teams is None else sorted(teams)})
    return f"{address}/login?link={doors.give_ticket(LINK, value, LINK_LASTS_S)}"


def person_of_link(doors: Doors, link: str) -> Person | None:
    value = doors.take_ticket(LINK, link)
    if value is None:
        return None
    given = json.loads(value)
    return Person(given["name"], given["role"], None if given["teams"] is None else frozenset(given["teams"]), LINK)
