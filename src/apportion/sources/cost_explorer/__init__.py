"""AWS Cost Explorer: what AWS says that a month cost so far, by day and by up to two groups; asked through boto3, or from saved answers.

It is a reference unless the stanza says `role = "bill"`: the Cost and Usage Report knows resources and tags, this knows totals. Where
there is no report it can be the bill. Each call costs 0.01 USD, so a month is asked for at once, from its first day on: what was
estimated yesterday may be another figure today.
"""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.errors import ApportionError, InputError
from apportion.model.delivery import Delivery, FileDigest
from apportion.model.times import DAY_S, Interval
from apportion.sources.cost_explorer.answers import Answer, answer_of
from apportion.sources.cost_explorer.asking import asking
from apportion.sources.cost_explorer.lines import delivery, months
from apportion.sources.cost_explorer.settings import How, how_of
from apportion.sources.files.places import Place
from apportion.sources.live import Live, Progress, Sign
from apportion.sources.settings import Stanza

LATE_S = 10 * DAY_S  # a month is final some days after its end
STANZA = """\
# What AWS says of the month's total, beside the bill. Credentials come as for the AWS CLI.
[[sources]]
name = "cost-explorer"
kind = "cost_explorer"
group_by = ["SERVICE", "RECORD_TYPE"]   # at most two: a dimension, tag:KEY or cost_category:NAME
# profile = "billing"
# role_arn = "arn:aws:iam::123456789012:role/read-costs"
# role = "bill"                         # where there is no Cost and Usage Report
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery | Progress]:
    """One delivery for each month that the window touches, from the month's first day to the window's end."""
    how, found = how_of(settings)
    if how.path:
        yield from saved(how, found, base, window)
        return
    if window is None:
        raise InputError(
            "no-period",
            "Cost Explorer is asked for a window, and none was given",
            where=how.where,
            hint="give a period",
        )
    spans = [span for span in months(window) if span.seconds > 0]
    with asking(how, found) as ask:
        for number, span in enumerate(spans):
            yield Progress(number, len(spans))
            yield delivery([answer_of(body, how.where) for body in ask.pages(span)], span, how, ask.account)


def saved(how: How, found: Stanza, base: Path, window: Interval | None) -> Iterator[Delivery]:
    """What `aws ce get-cost-and-usage` printed, one answer (or all pages in a list) a file."""
    answers: list[Answer] = []
    files = []
    with Place.of(found, base) as place:
        for file in place.files(("json",)):
            data = place.read(file.name)
            try:
                bodies = json.loads(data)
            except (ValueError, RecursionError) as error:
                raise InputError(
                    "corrupt-file", f"{file.name} is no JSON ({error})", where=file.name, hint="fetch it again"
                ) from error
            own = [answer_of(body, file.name) for body in (bodies if isinstance(bodies, list) else [bodies])]
            answers += own
            files.append(digest_of(file.name, data, own))
    every = [result.span for answer in answers for result in answer.results]
    if not every:
        raise InputError("no-rows", "the saved answers tell of no day", where=how.where, hint="see path of the source")
    told = Interval(min(span.start_s for span in every), max(span.end_s for span in every))
    for span in months(told):
        middle = (span.start_s + span.end_s) // 2
        if window is None or window.start_s <= middle < window.end_s:
            yield delivery(answers, span, how, how.account, tuple(files))


def digest_of(name: str, data: bytes, answers: list[Answer]) -> FileDigest:
    rows = sum(len(result.groups) for answer in answers for result in answer.results)
    return FileDigest(name, hashlib.sha256(data).hexdigest(), rows, str(rows))


def probe(settings: Mapping[str, Any], base: Path) -> Iterator[Sign]:
    """Whether AWS answers, for yesterday: one call."""
    try:
        how, found = how_of(settings)
        if how.path:
            count = sum(len(one.tables["cost_lines"]) for one in saved(how, found, base, None))
            yield Sign("ok", f"{count} figures in the saved answers")
            return
        today = int(time.time()) // DAY_S * DAY_S
        with asking(how, found) as ask:
            pages = [answer_of(body, how.where) for body in ask.pages(Interval(today - DAY_S, today))]
    except ApportionError as error:
        yield Sign("wrong", error.message, error.hint)
        return
    groups = sum(len(result.groups) for page in pages for result in page.results)
    yield Sign("ok", f"account {ask.account} answers with {groups} groups for yesterday")


SOURCE = Live(
    read=read, probe=probe, stanza=STANZA, overlap_s=LATE_S, step_s=3660 * DAY_S
)  # what is due is asked for at once, month by month
