"""What people write in price lists: headings, meters, spans, currencies and numbers, in many spellings."""

import re
from collections.abc import Mapping
from fractions import Fraction

from apportion.model.currencies import MINOR_DIGITS

HOURS = {  # in one of each span; a month is 730 hours, as clouds count it
    "second": Fraction(1, 3600),
    "minute": Fraction(1, 60),
    "hour": Fraction(1),
    "day": Fraction(24),
    "week": Fraction(168),
    "month": Fraction(730),
    "year": Fraction(8760),
}
SPANS = {
    **{name: name for name in HOURS}, **{f"{name}s": name for name in HOURS},
    "h": "hour", "hr": "hour", "hrs": "hour", "hourly": "hour", "std": "hour", "stunde": "hour", "d": "day", "daily": "day", "tag": "day",
    "mo": "month", "mon": "month", "monthly": "month", "monat": "month", "yr": "year", "yearly": "year", "annual": "year", "jahr": "year",
    "s": "second", "sec": "second", "min": "minute", "weekly": "week",
}  # fmt: skip
SIZES = {  # natural units (GiB) in one of each
    **{name: Fraction(10**power, 2**30) for name, power in (("mb", 6), ("gb", 9), ("tb", 12), ("pb", 15))},
    **{name: Fraction(2**power, 2**30) for name, power in (("mib", 20), ("gib", 30), ("tib", 40), ("pib", 50))},
}
METER_WORDS = {
    "gpu": "gpu", "gpus": "gpu", "card": "gpu", "cards": "gpu", "board": "gpu", "accelerator": "accelerator", "accelerators": "accelerator",
    "cpu": "cpu", "cpus": "cpu", "core": "cpu", "cores": "cpu", "vcpu": "cpu", "vcpus": "cpu", "memory": "memory", "mem": "memory", "ram": "memory",
    "node": "node", "nodes": "node", "host": "node", "server": "node", "storage": "storage", "disk": "storage", "filesystem": "storage",
    "licence": "licence", "license": "licence", "licences": "licence", "licenses": "licence", "seat": "licence", "seats": "licence",
    "network": "network", "traffic": "network", "egress": "network", "energy": "energy", "power": "energy", "kwh": "energy",
    "token": "tokens", "tokens": "tokens", "tpu": "tpu", "tpus": "tpu", "neuron": "neuron", "gaudi": "gaudi",
}  # fmt: skip
SYMBOLS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
HEADINGS: Mapping[str, tuple[str, ...]] = {  # the first that a heading's words contain decides
    "price": ("price", "rate", "cost", "tariff", "charge", "fee", "preis", "amount", "value"),
    "currency": ("currency", "curr", "ccy", "waehrung", "währung"),
    "partition": ("partition", "queue", "partitions"),
    "qos": ("qos",),
    "model": ("model", "type", "gres", "product", "sku", "gputype", "gpumodel"),
    "per": ("per", "period", "span", "interval", "billing"),
    "meter": ("meter", "resource", "item", "what", "tres", "component", "unit", "service"),
}
WORD = re.compile(r"[^\W\d_]+|\d+", re.UNICODE)
NUMBER = re.compile(r"-?[0-9][0-9.,'\u00a0 ]*|-?[.,][0-9]+")


def words_of(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]


def currency_in(text: str) -> str:
    """`$`, `EUR` or `` where it names none; a code must be in capitals: `all` and `try` are words too."""
    for symbol, code in SYMBOLS.items():
        if symbol in text:
            return code
    return next((word for word in re.findall(r"\b[A-Z]{3}\b", text) if word in MINOR_DIGITS), "")


def span_in(text: str) -> str:
    return next((SPANS[word] for word in reversed(words_of(text)) if word in SPANS), "")


def meter_in(text: str) -> str:
    """Memory and storage also by their sizes: `GiB-hour` is memory, `TB month` storage."""
    found = next((METER_WORDS[word] for word in words_of(text) if word in METER_WORDS), "")
    if found or not size_in(text):
        return found
    return "storage" if span_in(text) in ("month", "year") else "memory"


def size_in(text: str) -> Fraction | None:
    return next((SIZES[word] for word in words_of(text) if word in SIZES), None)


def number_in(text: str) -> Fraction | str:
    """Exact; or a sentence. `1,234` could be either and is refused; `1,234.50`, `1.234,50`, `2,10` and `1 234` are clear."""
    found = NUMBER.findall(text.strip())
    if len(found) != 1:
        return f"{text[:40]!r} is not a price"
    digits = re.sub(r"['\u00a0 ]", "", found[0]).rstrip(".,")
    if len(digits) > 40:
        return f"{text[:40]!r} is not a price"
    point, comma = digits.rfind("."), digits.rfind(",")
    if point >= 0 and comma >= 0:
        thousands = "," if point > comma else "."
        plain = digits.replace(thousands, "").replace(",", ".")
    elif comma >= 0 and re.fullmatch(r"-?[1-9][0-9]{0,2},[0-9]{3}", digits):
        return f"{text[:40]!r} may mean a thousand or a fraction"
    elif digits.count(",") > 1:
        plain = digits.replace(",", "")
    else:
        plain = digits.replace(",", ".")
    if not re.fullmatch(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)", plain):
        return f"{text[:40]!r} is not a price"
    return Fraction(plain)
