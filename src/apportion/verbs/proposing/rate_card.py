"""From scheduler accounting and a price list to a policy: the list is the bill, and every account is a team until somebody says otherwise."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from fractions import Fraction

from apportion.model.meters import METERS
from apportion.reports.words import counted, hours
from apportion.verbs.proposing.prices import Price, PriceList, decimal
from apportion.verbs.proposing.seen import Seen
from apportion.verbs.proposing.yaml_text import comment, glob, listed, scalar, template
from apportion.verbs.soundness import GOOD, NOTE, Finding

ACCOUNT, PARTITION, MODEL, QOS, USER = "slurm.account", "slurm.partition", "gpu.model", "slurm.qos", "slurm.user"
NOBODY = frozenset({"", "root", "default", "none", "null", "(null)", "unknown", "n/a"})  # accounts that name no team
FEW = 8

TEXT = """\
# yaml-language-server: $schema=policy.schema.json
#
# Proposed from {log} and {prices}. Edit it: `apportion check` says what is wrong with it, `apportion plan` what it would change.
# There is no bill here, so the price list is the bill: what the teams owe adds up to it, and nothing is idle.
policy: {name}
effective: {effective}
currency: {currency}
time_zone: {time_zone}

teams:                       # every account is a team; give each its department and cost centre, or join some
{teams}

owners:                      # first match wins; work that matches nothing is shown as _unallocated
{owners}

pools:                       # a price list for each meter; the first price that matches counts
{pools}
"""


@dataclass(frozen=True, slots=True)
class About:
    """What the text says beside what was seen."""

    name: str
    currency: str
    time_zone: str
    log: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """`unmapped`: accounts without an owner rule, with what they held."""

    policy: str
    findings: tuple[Finding, ...]
    unmapped: tuple[tuple[str, Fraction], ...] = ()


def propose_rate_card(seen: Seen, prices: PriceList, about: About) -> Proposal:
    main = main_meter(seen, prices)
    accounts = seen.held(main, ACCOUNT) if main else {}
    named = {name: held for (name,), held in accounts.items() if name is not None}
    mapped = {name: held for name, held in named.items() if name.lower() not in NOBODY and not name.startswith("_")}
    unmapped = tuple((name or "", held) for (name,), held in accounts.items() if name not in mapped)
    unit = METERS[main].unit if main else ""
    pools = {
        meter: list(conditions(seen, prices, meter)) for meter in dict.fromkeys(one.meter for one in prices.prices)
    }
    text = TEXT.format(
        log=comment(about.log),
        prices=comment(prices.file),
        name=scalar(about.name),
        effective=first_day(seen),
        currency=about.currency,
        time_zone=about.time_zone,
        teams="\n".join(f"  {scalar(name)}: {{}}" for name in mapped) or "  {}",
        owners=owners_text(mapped, unmapped, unit),
        pools="\n".join(pool_text(meter, some) for meter, some in pools.items()),
    )
    return Proposal(text, tuple(findings(seen, prices, (mapped, unmapped), unit)), unmapped)


def main_meter(seen: Seen, prices: PriceList) -> str:
    """What accounts are measured by: the first priced meter that was held at all."""
    priced = dict.fromkeys(price.meter for price in prices.prices)
    return next((meter for meter in (*priced, "gpu", "cpu", "node") if meter in seen.units), next(iter(seen.units), ""))


def first_day(seen: Seen) -> date:
    return datetime.fromtimestamp(seen.first_s, UTC).date().replace(month=1, day=1)


def owners_text(mapped: dict[str, Fraction], unmapped: Iterable[tuple[str, Fraction]], unit: str) -> str:
    user = f'user: "{{{USER}}}"'
    rules = [
        f"  - {{when: {{{ACCOUNT}: {glob(name)}}}, team: {template(name)}, {user}}}  # {hours(held)} {unit} hours"
        for name, held in mapped.items()
    ]
    for name, held in unmapped:
        shown = comment(name) or "no account"
        rules.append(f"  # whose is this? {shown}: {hours(held)} {unit} hours")
    return "\n".join(rules) if mapped else "  []\n" + "\n".join(rules)


def pool_text(meter: str, prices: Iterable[tuple[Price, str]]) -> str:
    per = "unit" if METERS[meter].flow else "hour"
    lines = [
        f"  {meter}:",
        "    usage: {}                # all of it",
        f"    meter: {meter}",
        "    method: rate_card",
        "    prices:",
    ]
    for price, when in prices:
        condition = f"when: {{{when}}}, " if when else ""
        lines.append(
            f'      - {{{condition}per: {per}, price: "{decimal(price.price)}"}}  # {comment(f"{price.where}: {price.said}")}'
        )
    return "\n".join(lines)


def conditions(seen: Seen, prices: PriceList, meter: str) -> Iterator[tuple[Price, str]]:
    """The prices of a meter, the most particular first, each with its selector over the labels as they were seen."""
    own = [price for price in prices.prices if price.meter == meter]
    for price in sorted(own, key=lambda one: -sum(map(bool, (one.model, one.partition, one.qos)))):
        parts = [
            f"{label}: {listed(glob(value) if value in known else scalar(value) for value in found)}"
            for label, wanted in ((MODEL, price.model), (PARTITION, price.partition), (QOS, price.qos))
            if wanted
            for known in [values(seen, label)]
            for found in [matching(wanted, known, exact=label != MODEL) or [wanted]]
        ]
        yield price, ", ".join(parts)


def values(seen: Seen, label: str) -> list[str]:
    return sorted({value for value in seen.column(label) if value is not None})


def matching(wanted: str, known: Iterable[str], *, exact: bool) -> list[str]:
    """Those that a list means by a word: whatever the case, as a glob, or (models) with more words than the list has."""
    want = tokens(wanted)
    found = []
    for value in known:
        have = tokens(value)
        same = fnmatchcase(value.lower(), wanted.lower()) or "".join(want) == "".join(have)
        if same or (not exact and (set(want) <= set(have) or "".join(want) in have)):
            found.append(value)
    return found


def tokens(text: str) -> list[str]:
    return [word for word in re.split(r"[^a-z0-9]+", text.lower()) if word]


def findings(
    seen: Seen, prices: PriceList, accounts: tuple[dict[str, Fraction], tuple[tuple[str, Fraction], ...]], unit: str
) -> Iterator[Finding]:
    mapped, unmapped = accounts
    yield Finding(GOOD, "accounts", f"{counted(len(mapped), 'account')}, each a team of its own")
    if unmapped:
        shown = ", ".join(f"{name or 'no account'} ({hours(held)} {unit} hours)" for name, held in unmapped[:FEW])
        yield Finding(
            NOTE,
            "unmapped",
            f"{counted(len(unmapped), 'account')} without an owner: {shown}",
            "add a rule under `owners` in policy.yaml",
        )
    yield Finding(GOOD, "prices", f"{counted(len(prices.prices), 'price')} from {prices.file}")
    for price in prices.prices:
        yield from unseen(seen, price)
    for meter in dict.fromkeys(price.meter for price in prices.prices):
        yield from unpriced(seen, prices, meter)
    for meter in sorted(seen.units):
        if meter in ("gpu", "accelerator", "tpu") and not any(price.meter == meter for price in prices.prices):
            yield Finding(
                NOTE, "prices", f"{meter} was used and has no price", f"add a row for {meter} to {prices.file}"
            )


def unseen(seen: Seen, price: Price) -> Iterator[Finding]:
    for label, wanted in ((MODEL, price.model), (PARTITION, price.partition), (QOS, price.qos)):
        if wanted and not matching(wanted, values(seen, label), exact=label != MODEL):
            known = ", ".join(values(seen, label)[:FEW]) or "none"
            yield Finding(
                NOTE,
                "prices",
                f"{price.where}: nothing ran on {label} {wanted!r} (seen: {known})",
                "kept as it is; correct the name if it is wrong",
            )


def unpriced(seen: Seen, prices: PriceList, meter: str) -> Iterator[Finding]:
    """Work that no price matches is charged 0, so it is said now."""
    if meter not in seen.units:
        yield Finding(NOTE, "prices", f"{meter} has a price, and the log has no {meter}", "nothing to do")
        return
    own = [price for price in prices.prices if price.meter == meter]
    for (model, partition, qos), held in seen.held(meter, MODEL, PARTITION, QOS).items():
        place = ((model, "model"), (partition, "partition"), (qos, "qos"))
        if not any(all(fits(getattr(price, name), value, name) for value, name in place) for price in own):
            shown = ", ".join(f"{name} {value}" for value, name in place if value) or "no label that tells"
            yield Finding(
                NOTE,
                "prices",
                f"no price for {shown}: {hours(held)} {METERS[meter].unit} hours would cost nothing",
                f"add a row to {prices.file}, or a price to policy.yaml",
            )


def fits(wanted: str, value: str | None, name: str) -> bool:
    return not wanted or (value is not None and bool(matching(wanted, [value], exact=name != "model")))
