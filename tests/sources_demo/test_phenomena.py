"""Everything the demo promises to show is in it, even at a tenth of its size."""

from collections import Counter, defaultdict
from itertools import pairwise

import pyarrow as pa

from apportion.model.meters import GPU
from apportion.model.rows import OUTCOMES
from apportion.sources.demo import Demo
from apportion.sources.demo.organisation import CREWS


def gpu_seconds(demo: Demo) -> Counter[str]:
    found: Counter[str] = Counter()
    for held in demo.month.held:
        labels = held.work.labels
        stem = labels.get("slurm.account", "").partition("-")[0]
        space = labels.get("k8s.namespace", "").removesuffix("-dev")
        team = next((crew.team for crew in CREWS if stem == crew.stem or space == crew.team), "")
        found[team] += held.gpu * (held.work.end - held.work.start)
    return found


def test_tables_have_the_model_s_schemas(evidence: dict[str, pa.Table]) -> None:
    assert sorted(evidence) == ["capacity", "reservations", "usage", "workloads"]
    for table in evidence.values():
        table.validate(full=True)
    ids = evidence["workloads"]["workload"].to_pylist()
    assert len(ids) == len(set(ids))
    assert set(evidence["usage"]["workload"].to_pylist()) == set(ids)
    assert set(evidence["workloads"]["outcome"].to_pylist()) == set(OUTCOMES) - {"requeued"}


def test_about_as_many_workloads_as_the_scale_says(demo: Demo) -> None:
    assert 4_500 < len(demo.month.works) < 5_500


def test_eight_teams_many_users_and_a_few_per_cent_without_an_owner(demo: Demo) -> None:
    seconds = gpu_seconds(demo)
    assert len(seconds) == 9
    assert 0.01 < seconds[""] / seconds.total() < 0.1
    labels = [work.labels for work in demo.month.works]
    users = {found.get("slurm.user") or found.get("k8s.label.user") for found in labels} - {None}
    assert 60 <= len(users) <= 90


def test_slices_shares_and_gangs(demo: Demo) -> None:
    amounts = {held.gpu for held in demo.month.held}
    assert {GPU // 7, 2 * GPU // 7, 3 * GPU // 7, GPU // 4, GPU // 2, 3 * GPU // 4, GPU, 8 * GPU} <= amounts
    nodes = Counter(held.work.workload for held in demo.month.held)
    assert max(nodes.values()) >= 4
    assert sum(count > 1 for count in nodes.values()) >= 4
    assert {held.node.group.name for held in demo.month.held if held.gpu} == {"h100", "a100", "l40s"}


def test_arrays_and_attempts_share_a_run(demo: Demo) -> None:
    runs = defaultdict(list)
    for work in demo.month.works:
        runs[work.run].append(work)
    assert sum(any("_" in work.workload for work in works) for works in runs.values()) >= 20
    again = [works for works in runs.values() if any(".r" in work.workload for work in works)]
    assert len(again) >= 10
    for works in again:  # an attempt begins after the one before it ended
        tasks = defaultdict(list)
        for work in works:
            tasks[work.workload.partition(".r")[0]].append(work)
        assert all(
            first.end < second.start
            for found in tasks.values()
            for first, second in pairwise(sorted(found, key=lambda work: work.start))
        )


def test_outage_drain_and_their_victims(demo: Demo) -> None:
    calendar = demo.month.calendar
    states = {standing.state: standing for standing in demo.month.standings}
    assert set(states) == {"up", "down", "starting", "drained"}
    down = states["down"]
    assert 29 * 3600 < states["starting"].end - down.start < 31 * 3600
    failed = [work for work in demo.month.works if work.outcome == "node_fail"]
    assert failed
    assert {work.end for work in failed} == {down.start} == {calendar.at(14, 2, 20)}


def test_month_ends(demo: Demo) -> None:
    month, window = demo.month.calendar.month, demo.month.calendar.window
    works = demo.month.works
    assert sum(work.outcome == "running" and work.end == month.end_s for work in works) >= 5
    assert sum(work.start < month.start_s < work.end for work in works) >= 5
    assert sum(work.start < window.start_s for work in works) >= 3
    assert demo.month.calendar.vendor_month.start_s - month.start_s == -7 * 3600


def test_a_reservation_is_partly_used_by_its_holder_and_partly_by_others(demo: Demo) -> None:
    reserved, names = demo.month.reserved, {node.name for node in demo.month.reserved_nodes}
    assert len(names) == 2
    by_holder: Counter[bool] = Counter()
    for held in demo.month.held:
        if held.node.name in names:
            inside = max(0, min(held.work.end, reserved.end_s) - max(held.work.start, reserved.start_s))
            account = held.work.labels.get("slurm.account", "")
            foreign = account and not account.startswith("geno-")
            assert not inside or not foreign or held.work.labels["slurm.qos"] == "preemptible"
            by_holder[account.startswith("geno-")] += held.gpu * inside
    promised = 2 * 8 * GPU * reserved.seconds
    assert promised * 2 // 10 < by_holder[True] < promised * 9 // 10
    assert by_holder[False] > 0


def test_a_deadline_week_quiet_nights_and_quiet_week_ends(demo: Demo) -> None:
    calendar = demo.month.calendar
    by_day, by_hour, by_weekday = Counter[int](), Counter[int](), Counter[int]()
    for work in demo.month.works:
        local = calendar.local(work.submit)
        by_hour[local.hour] += 1
        by_weekday[local.weekday()] += 1
        if calendar.month.start_s <= work.submit and work.labels.get("slurm.account", "").startswith("vis-"):
            by_day[local.day] += 1
    week_before, week = (sum(by_day[day] for day in days) for days in (range(12, 19), range(19, 26)))
    assert week > 2 * week_before
    assert by_hour[14] > 3 * by_hour[3]
    assert by_weekday[2] > 2 * by_weekday[6]


def test_some_use_is_not_measured_and_meters_are_all_there(evidence: dict[str, pa.Table]) -> None:
    rows = evidence["usage"].to_pylist()
    assert {row["meter"] for row in rows} == {"gpu", "cpu", "memory", "energy", "storage", "network"}
    boards = [row["used"] is None for row in rows if row["meter"] == "gpu"]
    assert 0.05 < sum(boards) / len(boards) < 0.5
