"""A job as somebody asks about it, in words, to what it would hold and when."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from zoneinfo import ZoneInfo

from apportion.errors import InputError
from apportion.model.gpus import gpus_of
from apportion.model.money import for_reading, plain
from apportion.model.numbers import parse_fraction
from apportion.model.times import parse_instant
from apportion.policy.document import Policy
from apportion.reports.estimate import Job

LEAST, LONGEST = Fraction(1, 3600), 100_000  # hours: a second, and more than eleven years
MOST = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Numbers as people write them: `8`, `3/7`, `MIG 3g.20gb`; memory in GiB. `start` is in the policy's time zone unless it says otherwise."""

    team: str
    hours: object
    gpus: object = ""
    cpus: object = ""
    memory: object = ""
    model: str = ""
    pool: str = ""
    start: str = ""
    project: str = ""
    user: str = ""
    labels: Sequence[str] = ()


def read_job(asked: Asked, policy: Policy) -> Job:
    hours = positive("hours", parse_fraction(asked.hours))
    if not LEAST <= hours <= LONGEST:
        raise InputError(
            "invalid-amount", f"no job takes {asked.hours} hours", hint=f"write a second to {LONGEST:,} hours"
        )
    amounts = {
        meter: positive(word, gpus_of(str(given)) if meter == "gpu" else parse_fraction(given))
        for meter, word, given in (
            ("gpu", "gpus", asked.gpus),
            ("cpu", "cpus", asked.cpus),
            ("memory", "memory", asked.memory),
        )
        if given not in ("", None)
    }
    if not amounts:
        raise InputError("nothing-held", "such a job holds nothing", hint="say --gpus, --cpus or --memory")
    start = parse_instant(asked.start, ZoneInfo(policy.time_zone)) if asked.start else None
    return Job(
        asked.team,
        hours,
        amounts,
        asked.model,
        asked.pool,
        start,
        asked.project,
        asked.user,
        dict(map(read_label, asked.labels)),
    )


def positive(what: str, amount: Fraction) -> Fraction:
    if not 0 < amount <= MOST:
        raise InputError(
            "negative-amount" if amount <= 0 else "invalid-amount",
            f"{what} is {plain(for_reading(amount))}",
            hint="write a number greater than 0, such as 8",
        )
    return amount


def read_label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals and value):
        raise InputError("invalid-filter", f"{text!r} is no label", hint="write it as qos=preemptible")
    return key, value
