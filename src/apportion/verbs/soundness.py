"""Is a source reachable, fresh and complete? What its probe says, and what of its time the books have."""

from collections.abc import Iterator
from dataclasses import dataclass

from apportion.books.ingest import latest
from apportion.books.prepare import Prepared
from apportion.model.times import Interval, instant_text
from apportion.reports.words import counted
from apportion.sources.live import WHEN, Live, is_asked
from apportion.sources.outside.stores.address import is_remote
from apportion.sources.outside.stores.objects import Store
from apportion.sources.pushed import KIND as PUSHED
from apportion.sources.pushed import read_cluster
from apportion.sources.registry import source_named
from apportion.sources.settings import Stanza
from apportion.verbs.due import delivered, ended, holes, now_s, reached, shown, since_s
from apportion.verbs.guessed_windows import settle_windows
from apportion.verbs.ingest import deliver
from apportion.verbs.project import Project
from apportion.verbs.settings import Source

GOOD, NOTE, BAD = "ok", "note", "wrong"  # as a Sign has them
STALE_S = 2 * 86_400


@dataclass(frozen=True, slots=True)
class CheckLine:
    """`fix` is the command or the edit that mends it."""

    status: str
    what: str
    text: str
    fix: str = ""


def source_findings(project: Project, source: Source) -> Iterator[CheckLine]:
    if source.kind == PUSHED:
        yield pushed_finding(project, source)
        return
    kind = source_named(source.kind, source.where)
    if is_asked(kind, source.settings):
        yield from asked_findings(project, source, kind)
        return
    if isinstance(kind, Live):
        yield from signs(project, source, kind)
    if is_remote(str(source.settings.get("path", ""))):
        yield store_finding(project, source)
    yield from file_findings(project, source)


def pushed_finding(project: Project, source: Source) -> CheckLine:
    """Nobody knows what is due: only whether anything came, and when last."""
    read_cluster(source.settings)  # refuses what it does not know
    rows = [row for row in project.books.deliveries() if row["source"] == source.name]
    what = f"source {source.name}"
    if not rows:
        return CheckLine(NOTE, what, "nothing was pushed yet", "POST /api/v1/usage takes it")
    last = instant_text(max(row["received_s"] for row in rows))
    return CheckLine(GOOD, what, f"{counted(len(rows), 'push', 'pushes')}, the last at {last}")


def signs(project: Project, source: Source, live: Live) -> Iterator[CheckLine]:
    settings = {key: value for key, value in source.settings.items() if key not in WHEN}
    for sign in live.probe(settings, project.folder):
        yield CheckLine(sign.status, f"source {source.name}", sign.text, sign.fix)


def asked_findings(project: Project, source: Source, live: Live) -> Iterator[CheckLine]:
    """What the outside says of itself, then how much of its time is in the books."""
    yield from signs(project, source, live)
    yield freshness(delivered(project, source), since_s(source), ended(live, now_s()), source.name)


def freshness(windows: list[Interval], since: int, until: int, name: str) -> CheckLine:
    """Missing days first: they are older, and nobody sees them from a graph's end."""
    what, fix = f"source {name}", f"apportion ingest {name}"
    last = reached(windows)
    if last is None:
        return CheckLine(BAD, what, f"nothing in the books yet; due since {instant_text(since)[:10]}", fix)
    missing = [hole for hole in holes(windows, since, min(last, until), 0) if hole.seconds]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        return CheckLine(BAD, what, f"not in the books: {shown(missing[0])}{more}", fix)
    if until - last > STALE_S:
        behind = counted((until - last) // 86_400, "day")
        return CheckLine(BAD, what, f"in the books until {instant_text(last)}, {behind} behind", fix)
    return CheckLine(
        GOOD, what, f"in the books without a gap from {instant_text(since)[:10]} until {instant_text(last)}"
    )


def store_finding(project: Project, source: Source) -> CheckLine:
    """It answers, and what lies there by name alone."""
    store = Store.of(Stanza(source.settings, f"source {source.name!r}"), project.folder)
    objects = store.listed()
    newest = instant_text(int(max(found.modified for found in objects).timestamp()))
    size = sum(found.size for found in objects)
    text = f"{store.address.root} answers: {counted(len(objects), 'object')} of {size:,} bytes, the newest of {newest}"
    return CheckLine(GOOD, f"source {source.name}", text)


def file_findings(project: Project, source: Source) -> Iterator[CheckLine]:
    """Readable, and in the books as it is now."""
    count = fresh = rows = 0
    last = 0
    for delivery in settle_windows(project, deliver(project, source)):
        count += 1
        fresh += latest(project.books.evidence, Prepared(delivery)) is None
        rows += sum(len(table) for table in delivery.tables.values())
        last = max(last, delivery.window.end_s)
    what = f"source {source.name}"
    if not count:
        yield CheckLine(BAD, what, "has nothing to read", f"see its path in {source.where}")
    elif fresh:
        text = f"{counted(fresh, 'delivery', 'deliveries')} of {count} not in the books yet"
        yield CheckLine(BAD, what, text, f"apportion ingest {source.name}")
    else:
        text = (
            f"{counted(count, 'delivery', 'deliveries')}, {rows:,} rows, all in the books, until {instant_text(last)}"
        )
        yield CheckLine(GOOD, what, text)
