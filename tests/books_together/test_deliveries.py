"""Deliveries in any order against a tiny model that keeps every second of every job."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apportion.books.open import Books
from apportion.model.times import Interval
from tests.books.conftest import Place
from tests.books.rows import delivery, usage, workloads
from tests.conftest import LONG

SOURCES, JOBS = ("slurm", "k8s"), ("a", "b")
EDGES = st.integers(0, 12)
WINDOWS = st.tuples(EDGES, EDGES).filter(lambda ends: ends[0] < ends[1]).map(lambda ends: Interval(*ends))
Row = tuple[str, int, int, int]  # job, start, end, amount


@dataclass
class Model:
    """What each source says of each second, and the last word on each workload."""

    held: dict[tuple[str, str, int], int] = field(default_factory=dict)
    outcomes: dict[tuple[str, str], str] = field(default_factory=dict)

    def deliver(self, source: str, window: Interval, rows: list[Row], outcome: str) -> None:
        self.held = {
            key: amount
            for key, amount in self.held.items()
            if key[0] != source or not window.start_s <= key[2] < window.end_s
        }
        for job, start, end, amount in rows:
            for second in range(max(start, window.start_s), min(end, window.end_s)):
                self.held[source, job, second] = self.held.get((source, job, second), 0) + amount
        self.outcomes |= {(source, job): outcome for job, *_ in rows}


def seconds_of(books: Books) -> dict[tuple[str, str, int], int]:
    held: dict[tuple[str, str, int], int] = {}
    for row in books.scan("usage").to_pylist():
        for second in range(row["start_s"], row["end_s"]):
            key = (row["source"], row["workload"], second)
            held[key] = held.get(key, 0) + row["allocated"]
    return held


@st.composite
def deliveries(draw: st.DrawFn) -> tuple[str, Interval, list[Row], str]:
    named = st.tuples(st.sampled_from(JOBS), WINDOWS, st.integers(1, 3))
    rows = draw(st.lists(named, max_size=3, unique_by=lambda row: (row[0], row[1].start_s)))
    outcome = draw(st.sampled_from(["running", "completed"]))
    return (
        draw(st.sampled_from(SOURCES)),
        draw(WINDOWS),
        [(job, part.start_s, part.end_s, amount) for job, part, amount in rows],
        outcome,
    )


@settings(
    max_examples=200 if LONG else 8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(told=st.lists(deliveries(), min_size=2, max_size=6), again=st.booleans())
def test_books_say_what_the_model_says(
    told: list[tuple[str, Interval, list[Row], str]], again: bool, fresh: Callable[[], Place]
) -> None:
    books, model = fresh().open(create=False), Model()
    for source, window, rows, outcome in told:
        known = workloads([(job, outcome, {}) for job in sorted({row[0] for row in rows})], source)
        held = usage([(job, "cpu", "n", start, end, amount, None) for job, start, end, amount in rows], source)
        spoken = delivery(window, source, usage=held, workloads=known)
        books.ingest(spoken)
        if again:
            assert not books.ingest(spoken).changed
        model.deliver(source, window, rows, outcome)
        assert seconds_of(books) == model.held
        version = books.inputs()["usage"]
        assert version.rows == books.scan("usage").num_rows
    outcomes = books.scan("workloads").to_pylist()
    assert {(row["source"], row["workload"]): row["outcome"] for row in outcomes} == model.outcomes
    assert len(outcomes) == len(model.outcomes)
    assert books.verify() == []
