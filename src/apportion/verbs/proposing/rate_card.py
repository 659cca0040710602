"""From scheduler accounting and a price list to a policy: the list is the bill, and every account is a team until somebody says otherwise."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from fractions import Fraction

from apportion.model.meters import METERS
from apportion.reports.words import counted, hours
from apportion.verbs.proposing.prices import Price, PriceList, decimal
from apportion.verbs.proposing.seen import Seen
from apportion.verbs.proposing.yaml_text import comment, glob, listed, scalar, template
from apportion.verbs.soundness import GOOD, NOTE, CheckLine

ACCOUNT, PARTITION, MODEL, QOS, USER = "slurm.account", "slurm.partition", "gpu.model", "slurm.qos", "slurm.user"
TOLD = {"model": MODEL, "partition": PARTITION, "qos": QOS}  # what a price can be told by, and its label
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
    """`unmapped`: accounts without an owner rule, "" for work that names none."""

    policy: str
    findings: tuple[CheckLine, ...]
    unmapped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Accounts:
    """Each with what it held, as a sentence has it; most first."""

    mapped: dict[str, str]
    unmapped: dict[str, str]


def propose_rate_card(seen: Seen, prices: PriceList, about: About) -> Proposal:
    meters = list(dict.fromkeys(one.meter for one in prices.prices))
    accounts = accounts_of(seen, meters)
    text = TEXT.format(
        log=comment(about.log),
        prices=comment(prices.file),
        name=scalar(about.name),
        effective=first_day(seen),
        currency=about.currency,
        time_zone=about.time_zone,
        teams="\n".join(f"  {scalar(name)}: {{}}" for name in accounts.mapped) or "  {}",
        owners=owners_text(accounts),
        pools="\n".join(pool_text(meter, conditions(seen, prices, meter)) for meter in meters),
    )
    return Proposal(text, tuple(findings(seen, prices, accounts)), tuple(accounts.unmapped))


def accounts_of(seen: Seen, meters: Sequence[str]) -> Accounts:
    """Every account that the log names, by the priced meters in their order; and whether it names a team."""
    held = {meter: seen.held(meter, ACCOUNT) for meter in meters if meter in seen.units}
    names = {name or "" for name in seen.column(ACCOUNT)}
    amounts = {name: [held[meter].get((name or None,), Fraction(0)) for meter in held] for name in names}
    ranked = sorted(names, key=lambda name: ([-amount for amount in amounts[name]], name))
    told = {
        name: ", ".join(
            f"{hours(amount)} {unit_of(meter)}" for meter, amount in zip(held, amounts[name], strict=True) if amount
        )
        for name in ranked
    }
    mapped = {name: text for name, text in told.items() if name.lower() not in NOBODY and not name.startswith("_")}
    return Accounts(mapped, {name: text for name, text in told.items() if name not in mapped})


def unit_of(meter: str) -> str:
    return METERS[meter].unit if METERS[meter].flow else f"{METERS[meter].unit} hours"


def first_day(seen: Seen) -> date:
    return datetime.fromtimestamp(seen.first_s, UTC).date().replace(month=1, day=1)


def owners_text(accounts: Accounts) -> str:
    user = f'user: "{{{USER}}}"'
    rules = [
        f"  - {{when: {{{ACCOUNT}: {glob(name)}}}, team: {template(name)}, {user}}}  # {held or 'nothing that has a price'}"
        for name, held in accounts.mapped.items()
    ]
    rules += [f"  # whose is this? {comment(name) or 'no account'}: {held}" for name, held in accounts.unmapped.items()]
    return "\n".join(rules) if accounts.mapped else "\n".join(["  []", *rules])


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
            for name, label in TOLD.items()
            if (wanted := getattr(price, name))
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


def findings(seen: Seen, prices: PriceList, accounts: Accounts) -> Iterator[CheckLine]:
    yield CheckLine(GOOD, "accounts", f"{counted(len(accounts.mapped), 'account')}, each a team of its own")
    if accounts.unmapped:
        some = list(accounts.unmapped.items())
        shown = "; ".join(f"{name or 'no account'} ({held or 'nothing that has a price'})" for name, held in some[:FEW])
        more = f" and {len(some) - FEW} more" if len(some) > FEW else ""
        yield CheckLine(
            NOTE,
            "unmapped",
            f"{counted(len(some), 'account')} without an owner: {shown}{more}",
            "add a rule under `owners` in policy.yaml",
        )
    yield CheckLine(GOOD, "prices", f"{counted(len(prices.prices), 'price')} from {prices.file}")
    for price in prices.prices:
        yield from unseen(seen, price)
    for meter in dict.fromkeys(price.meter for price in prices.prices):
        yield from unpriced(seen, prices, meter)
    for meter in sorted(seen.units):
        if meter in ("gpu", "accelerator", "tpu") and not any(price.meter == meter for price in prices.prices):
            yield CheckLine(
                NOTE, "prices", f"{meter} was used and has no price", f"add a row for {meter} to {prices.file}"
            )


def unseen(seen: Seen, price: Price) -> Iterator[CheckLine]:
    for name, label in TOLD.items():
        wanted = getattr(price, name)
        if wanted and not matching(wanted, values(seen, label), exact=label != MODEL):
            known = ", ".join(values(seen, label)[:FEW]) or "none"
            yield CheckLine(
                NOTE,
                "prices",
                f"{price.where}: nothing ran on {label} {wanted!r} (seen: {known})",
                "kept as it is; correct the name if it is wrong",
            )


def unpriced(seen: Seen, prices: PriceList, meter: str) -> Iterator[CheckLine]:
    """Work that no price matches is charged 0, so it is said now."""
    if meter not in seen.units:
        yield CheckLine(NOTE, "prices", f"{meter} has a price, and the log has no {meter}", "nothing to do")
        return
    own = [price for price in prices.prices if price.meter == meter]
    told = {name: label for name, label in TOLD.items() if any(getattr(price, name) for price in own)}
    if not told:
        return  # one price for all
    for place, held in seen.held(meter, *told.values()).items():
        known = dict(zip(told, place, strict=True))
        if not any(all(fits(getattr(price, name), value, name) for name, value in known.items()) for price in own):
            shown = ", ".join(f"{name} {value or 'unknown'}" for name, value in known.items())
            yield CheckLine(
                NOTE,
                "prices",
                f"no price for {shown}: {hours(held)} {METERS[meter].unit} hours would cost nothing",
                f"add a row to {prices.file}, or a price to policy.yaml",
            )


def fits(wanted: str, value: str | None, name: str) -> bool:
    return not wanted or (value is not None and bool(matching(wanted, [value], exact=name != "model")))
