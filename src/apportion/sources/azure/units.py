"""UnitOfMeasure: "100 Hours" is a block of 100 hours, and a quantity of 2 is 200 of them; "10K" is 10,000 pieces of something unnamed.

The words follow Microsoft's list of pricing units (FinOps toolkit, PricingUnits.csv, MIT licence), by rule instead of line by line.
"""

import re
from decimal import Decimal

UNIT = re.compile(r"(?P<count>\d[\d,]*(?:\.\d+)?)?\s*(?P<power>[KMB](?=$|[/ ]))?\s*(?P<what>.*)")
POWERS = {"K": 1_000, "M": 1_000_000, "B": 1_000_000_000}
PER = {"hourly": "Hour", "daily": "Day", "annual": "Year"}
PLAIN = {
    "": "Units", "unit": "Units", "unassigned": "Units", "api calls": "Requests", "minute(s)": "Minutes", "gb": "GB", "vm": "Virtual Machines",
    "hora": "Hours", "小时": "Hours", "count": "Count", "rotation": "Rotation", "minutes": "Minutes",
}  # fmt: skip
TIMES = {"hora": "Hour", "小时": "Hour", "mes": "Month", "月": "Month"}
ODD = {"10000s": (Decimal(1), "Transactions")}  # the only number that is no block
ENDS_IN_S = re.compile(r"(?:[A-Z]{2,}|[GMKTP]i?[Bb]|Mbps|IOPS|Million|.*s)")


def block_of(written: str) -> tuple[Decimal, str]:
    """How many units one of the quantity is, and which."""
    found = UNIT.fullmatch(written.strip())
    if written in ODD or found is None:
        return ODD.get(written, (Decimal(1), written.strip()))
    count = Decimal((found["count"] or "1").replace(",", "")) * POWERS.get(found["power"] or "", 1)
    return (count, unit_of(found["what"])) if count else (Decimal(1), unit_of(found["what"]))


def unit_of(what: str) -> str:
    amount, slash, time = (part.strip() for part in what.partition("/"))
    first, _, rest = amount.partition(" ")
    if rest and first.casefold() in PER:  # a daily user is a user for each day
        amount, slash, time = rest, "/", PER[first.casefold()]
    return f"{plural(amount)}/{TIMES.get(time, time)}" if slash else plural(amount)


def plural(amount: str) -> str:
    """Of the last word: GB Second is GB Seconds, and GB stays GB."""
    if (known := PLAIN.get(amount.casefold())) is not None:
        return known
    return amount if ENDS_IN_S.fullmatch(amount.rpartition(" ")[2]) else f"{amount[:1].upper()}{amount[1:]}s"


def pricing_unit(count: Decimal, unit: str) -> str:
    return unit if count == 1 else f"{count:f} {unit}"
