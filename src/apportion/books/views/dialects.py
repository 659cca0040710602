"""What the two databases say differently: dates, flags, and sums that keep every digit.

SQLite has no decimals. An amount is cut there into whole units and two times nine places, each of which is added up as a whole number; then what
is more than a place holds is carried, and the digits are written again.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from apportion.model.currencies import MINOR_DIGITS, QUANTITIES

LIMB = 10**9
LIMBS = ("whole", "nano", "atto")
Weights = Mapping[str, str]  # of each sum: how often a row counts in it, in whole numbers


class Words(Protocol):
    def date(self, text: str) -> str: ...
    def moment(self, seconds: str) -> str: ...
    def flag(self, condition: str) -> str: ...
    def approx(self, amount: str) -> str: ...
    def issuer(self, bill: str) -> str: ...
    def last_word(self, text: str) -> str: ...
    def major(self, minor: str, currency: str) -> str: ...
    def grouped(self, rows: str, keys: Sequence[str], sums: Weights) -> str:
        """The rows of a query, which has a column `amount`, added up by some of its columns; exactly, with its count."""
        ...


class Postgres:
    def date(self, text: str) -> str:
        return f"CAST({text} AS date)"

    def moment(self, seconds: str) -> str:
        return f"to_timestamp({seconds})"

    def flag(self, condition: str) -> str:
        return f"({condition})"

    def approx(self, amount: str) -> str:
        return f"CAST({amount} AS double precision)"

    def issuer(self, bill: str) -> str:
        return f"regexp_replace({bill}, ' [^ ]+ [^ ]+$', '')"

    def last_word(self, text: str) -> str:
        return f"regexp_replace({text}, '^.* ', '')"

    def major(self, minor: str, currency: str) -> str:
        units = by_places(
            currency, lambda places: f"CAST('{1 if not places else '0.' + '1'.zfill(places)}' AS numeric)"
        )
        return f"CAST({minor} * {units} AS numeric(38,18))"

    def grouped(self, rows: str, keys: Sequence[str], sums: Weights) -> str:
        listed = ", ".join(keys)
        found = ", ".join(f"SUM({weight} * amount) AS {name}" for name, weight in sums.items())
        inner = f"SELECT {listed}, {found}, COUNT(*) AS postings FROM ({rows}) AS source GROUP BY {listed}"
        amounts = ", ".join(
            f"CAST({name} AS numeric(38,18)) AS {name}, {self.approx(name)} AS {name}_approx" for name in sums
        )
        return f"SELECT {listed}, {amounts}, postings FROM ({inner}) AS summed"


class Sqlite:
    def date(self, text: str) -> str:
        return text

    def moment(self, seconds: str) -> str:
        return f"strftime('%Y-%m-%dT%H:%M:%SZ', {seconds}, 'unixepoch')"

    def flag(self, condition: str) -> str:
        return f"({condition})"

    def approx(self, amount: str) -> str:
        return f"CAST({amount} AS REAL)"

    def issuer(self, bill: str) -> str:
        """Without its last word, then without ` 2026-10 `."""
        before = f"rtrim({bill}, replace({bill}, ' ', ''))"
        return f"substr({before}, 1, length({before}) - 9)"

    def last_word(self, text: str) -> str:
        return f"substr({text}, length(rtrim({text}, replace({text}, ' ', ''))) + 1)"

    def major(self, minor: str, currency: str) -> str:
        sign = f"CASE WHEN {minor} < 0 THEN '-' ELSE '' END"

        def written(places: int) -> str:
            if not places:
                return f"CAST({minor} AS TEXT)"
            digits = (
                f"{sign} || (abs({minor}) / {10**places}) || '.' || printf('%0{places}d', abs({minor}) % {10**places})"
            )
            return f"rtrim(rtrim({digits}, '0'), '.')"

        return by_places(currency, written)

    def grouped(self, rows: str, keys: Sequence[str], sums: Weights) -> str:
        listed = ", ".join(keys)
        apart = f"SELECT *, CASE WHEN amount LIKE '-%' THEN -1 ELSE 1 END AS sign, {limbs_of('amount')} FROM ({rows})"
        limbs = ", ".join(
            f"SUM(({weight}) * sign * {limb}) AS {name}_{limb}" for name, weight in sums.items() for limb in LIMBS
        )
        found = f"SELECT {listed}, {limbs}, COUNT(*) AS postings FROM ({apart}) GROUP BY {listed}"
        for lower, upper in (("atto", "nano"), ("nano", "whole")):
            found = carried(found, [*keys, "postings"], sums, (lower, upper))
        amounts = ", ".join(f"{digits_of(name)} AS {name}" for name in sums)
        exact = f"SELECT {listed}, {amounts}, postings FROM ({found})"
        both = ", ".join(f"{name}, {self.approx(name)} AS {name}_approx" for name in sums)
        return f"SELECT {listed}, {both}, postings FROM ({exact})"


def limbs_of(amount: str) -> str:
    digits = f"ltrim({amount}, '-')"
    after = f"substr(CASE WHEN instr({digits}, '.') THEN substr({digits}, instr({digits}, '.') + 1) ELSE '' END || '{'0' * 18}', 1, 18)"
    places = (
        f"CAST({digits} AS INTEGER)",
        f"CAST(substr({after}, 1, 9) AS INTEGER)",
        f"CAST(substr({after}, 10, 9) AS INTEGER)",
    )
    return ", ".join(f"{place} AS {limb}" for place, limb in zip(places, LIMBS, strict=True))


def carried(rows: str, keys: Sequence[str], sums: Weights, step: tuple[str, str]) -> str:
    """With the lower limb from 0 to below 10^9, and the rest of it in the one above."""
    lower, upper = step
    columns = [*keys]
    for name in sums:
        low = f"(({name}_{lower} % {LIMB}) + {LIMB}) % {LIMB}"
        columns += [f"{low} AS {name}_{lower}", f"{name}_{upper} + ({name}_{lower} - {low}) / {LIMB} AS {name}_{upper}"]
        columns += [f"{name}_{limb}" for limb in LIMBS if limb not in step]
    return f"SELECT {', '.join(columns)} FROM ({rows})"


def digits_of(name: str) -> str:
    """A sum whose lower limbs are not below 0, as canonical text. Below 0 the places count from the next whole number down."""
    whole, nano, atto = (f"{name}_{limb}" for limb in LIMBS)
    up = f"{whole} || '.' || printf('%09d%09d', {nano}, {atto})"
    more = f"({nano} > 0 OR {atto} > 0)"
    left = f"(CASE WHEN {atto} > 0 THEN {LIMB} - 1 ELSE {LIMB} END - {nano}) % {LIMB}"
    down = f"'-' || (-{whole} - {more}) || '.' || printf('%09d%09d', CASE WHEN {more} THEN {left} ELSE 0 END, ({LIMB} - {atto}) % {LIMB})"
    return f"rtrim(rtrim(CASE WHEN {whole} < 0 THEN {down} ELSE {up} END, '0'), '.')"


def by_places(currency: str, made: Callable[[int], str]) -> str:
    """By how many decimal places a statement in a currency has; most have two."""
    known = {**MINOR_DIGITS, **QUANTITIES}
    others = sorted({places for places in known.values() if places != 2})
    cases = []
    for places in others:
        names = ", ".join(f"'{code}'" for code, its in sorted(known.items()) if its == places)
        cases.append(f"WHEN {currency} IN ({names}) THEN {made(places)}")
    return f"CASE {' '.join(cases)} ELSE {made(2)} END"
