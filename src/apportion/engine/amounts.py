"""What a usage row counts by: what it held and what it used, each where it is stated."""

from typing import Any

import ibis


def held_units(usage: Any) -> Any:
    """What a row held; where nobody states it, what was used: a row counts by what is stated."""
    return ibis.coalesce(usage.allocated, usage.used, 0)
