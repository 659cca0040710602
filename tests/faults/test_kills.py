"""kill -9 at write-class system calls: nothing acknowledged is lost, nothing is half done, and the same again completes it once."""

from collections.abc import Callable, Sequence

from tests.faults.conftest import NewStage
from tests.faults.injection import Actors, Fault
from tests.faults.story import Plot
from tests.faults.sweep import Sweep, spread, tally

KILL = "signal=SIGKILL"
ALL = 10**6
POINTS = {  # in short and in long runs
    ("sqlite", "go_on"): (22, ALL),
    ("sqlite", "settle"): (14, ALL),
    ("sqlite", "decide"): (8, ALL),
    ("sqlite", "export"): (8, ALL),
    ("sqlite", "begin"): (5, ALL),
    ("postgresql", "go_on"): (4, 200),
    ("postgresql", "settle"): (4, 200),
    ("postgresql", "begin"): (2, 100),
}
LEAST, LEAST_IN_LONG_RUNS = 100, 1000


def test_killed_at_any_point_nothing_is_lost_or_half_done(
    company: Sequence[Actors],
    plots: dict[str, Plot],
    stages: dict[str, NewStage],
    long_run: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """Points are spread evenly over each story; the long run takes all of those on SQLite."""
    killed = 0
    for (kind, story), (few, many) in POINTS.items():
        if kind not in stages:
            continue
        sweep = Sweep(plots[story], company, stages[kind])
        calls = sweep.calls()
        faults = [Fault(call.call, call.number, KILL) for call in spread(calls, many if long_run else few)]
        endings = sweep.suffer_all(faults)
        killed += sum(ending.killed for ending in endings)
        said = f"{len(calls)} points, {tally(faults, endings)}"
        record_property(f"{story} on {kind}", said)
        print(f"{story} on {kind}: {said}")
        assert all(ending.killed for ending in endings)
    record_property("processes killed", killed)
    assert killed >= (LEAST_IN_LONG_RUNS if long_run else LEAST)
