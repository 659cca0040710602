"""Asking a cluster, or the files saved from it."""

from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.errors import InputError, Problem
from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.files.paths import input_files
from apportion.sources.kubernetes.api import Api, Denied, DeniedError, MissingError
from apportion.sources.kubernetes.delivery import delivery, silence, spoken_of
from apportion.sources.kubernetes.objects import KINDS, QUOTA, Kind, Moment, Object
from apportion.sources.kubernetes.rbac import rule_for
from apportion.sources.kubernetes.saved import read_saved
from apportion.sources.kubernetes.settings import SETTINGS, How, how_of
from apportion.sources.live import Progress
from apportion.sources.settings import Stanza, stanza

FORMATS = ("json",)


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery | Progress]:
    """What the cluster has, for the part of the window that is recent enough to be spoken of."""
    found = stanza(settings, SETTINGS)
    how = how_of(found)
    if "path" in settings:
        yield from from_files(found, base, how, window)
    elif window is None:
        raise found.refuse("path", "set where no window is asked for", None)
    else:
        with Api.of(found, base) as api:
            yield from from_api(api, how, window)


def from_files(found: Stanza, base: Path, how: How, window: Interval | None) -> Iterator[Delivery]:
    moment, digests = read_saved(input_files(found.text("path"), base, FORMATS, found.where), how.as_of_s)
    asked = window or Interval(moment.at_s - how.reach_s, moment.at_s)
    _, recent = spoken_of(Interval(asked.start_s, min(asked.end_s, moment.at_s)), moment.at_s, how)
    if recent.seconds > 0:
        yield delivery(moment, recent, how, digests)


def from_api(api: Api, how: How, window: Interval) -> Iterator[Delivery | Progress]:
    version(api)
    past, recent = spoken_of(window, server_time(api), how)
    if past.seconds > 0:
        yield silence(past, how)
    if recent.seconds > 0:
        moment = yield from looked_at(api, how)
        yield delivery(moment, recent, how)


def looked_at(api: Api, how: How) -> Generator[Progress, None, Moment]:
    """Everything that the settings ask for, or an error; of the rest, what may be looked at."""
    at_s = server_time(api)  # of before the first list: nothing that was listed is younger than was said
    kinds = wanted(how)
    found: dict[tuple[str, str], list[Object]] = {}
    problems = []
    for number, kind in enumerate(kinds):
        yield Progress(number, len(kinds), str(kind))
        answer = api.all(kind)
        if isinstance(answer, Denied):
            if kind in how.needed():
                raise denied(api, answer)
            problems.append(
                Problem(f"cluster {how.cluster}", "not-permitted", f"{kind} may not be listed: {answer.said}")
            )
        elif answer is not None:
            found[kind.key] = answer
    return Moment(at_s, found, tuple(problems))


def wanted(how: How) -> list[Kind]:
    return [kind for kind in KINDS if kind != QUOTA or "quota" in how.reservations]


def denied(api: Api, answer: Denied) -> InputError:
    return InputError(
        "not-permitted",
        f"{api.host} does not let this user list {answer.kind}: {answer.said}",
        where=api.where,
        hint=f"add to its ClusterRole: {rule_for([answer.kind])}",
    )


def version(api: Api) -> str:
    try:
        return str(api.get("/version").get("gitVersion"))
    except (DeniedError, MissingError) as error:
        raise api.told(
            "bad-response", f"{api.host} does not say its version: {error}", "is it a Kubernetes API server?"
        ) from error


def server_time(api: Api) -> int:
    """The cluster's own clock: what was long ago is for it to say."""
    if api.now_s is None:
        raise api.told(
            "bad-response", f"{api.host} does not say what time it is", "a proxy may have removed the header Date"
        )
    return api.now_s
