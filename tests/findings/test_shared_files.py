"""One file that the sources of two clusters read counts in both, and is told with its hours."""

from pathlib import Path

from tests.cli.conftest import Run
from tests.cli.tiny import SETTINGS

OTHER = SETTINGS[SETTINGS.index('[[sources]]\nname = "jobs"') : SETTINGS.index('[[sources]]\nname = "nodes"')]


def read_by_two(folder: Path, *clusters: str) -> None:
    stanzas = [
        OTHER.replace('"jobs"', f'"jobs{number}"', 1).replace("time_zone", f'cluster = "{cluster}"\ntime_zone')
        for number, cluster in enumerate(clusters)
    ]
    (folder / "apportion.toml").write_text(SETTINGS.replace(OTHER, "".join(stanzas)), "utf-8")


def test_a_file_of_two_clusters_is_told_with_its_hours(run: Run, sound: Path) -> None:
    read_by_two(sound, "a", "b")
    for words in (("ingest",), ("check", "--period", "2026-10")):
        told = run("--project", sound, *words, "-o", "json").value()["findings"]
        (found,) = [one for one in told if one["code"] == "file-in-two-sources"]
        assert (found["source"], found["hours"], found["unit"], found["share"]) == ("jobs1", "98", "GPU", "1")
    assert "usage/jobs.csv is read by source 'jobs0' of another cluster, too" in found["message"]
    assert run("--project", sound, "plan", "--period", "2026-10").code == 0
    assert "file-in-two-sources" in run("--project", sound, "apply", "--period", "2026-10").err


def test_sources_of_one_cluster_have_other_rules(run: Run, sound: Path) -> None:
    read_by_two(sound, "a", "a")
    assert "file-in-two-sources" not in run("--project", sound, "ingest").out


def test_sources_that_count_different_meters_of_a_file_count_nothing_twice(run: Run, sound: Path) -> None:
    read_by_two(sound, "a", "b")
    text = (sound / "apportion.toml").read_text("utf-8")
    head, tail = text.split("jobs1", 1)
    (sound / "apportion.toml").write_text(head + "jobs1" + tail.replace('gpu = "gpus"', 'cpu = "gpus"', 1), "utf-8")
    assert "file-in-two-sources" not in run("--project", sound, "ingest").out
