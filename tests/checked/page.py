"""docs/explanation/checked-by-others.md, made of the tally: `make docs` writes it, and a test holds the two equal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.checked import tally
from tests.checked.tally import Outcome

PAGE = Path(__file__).parents[2] / "docs/explanation/checked-by-others.md"
INTRO = """# Checked by others

Made by `make docs` from the tally that `make test` compares with what comes out each time (`tests/checked`).

These are cases that other projects wrote for themselves, with the figures that they expect, or files that their programs write, with the totals that they
have. They know nothing of Apportion. Each goes through the code that computes your figures; a figure counts as equal if it is, to the digits that they
state. The page gives the reason for each figure that differs or is not compared. The test fails when a figure becomes equal or stops being equal.
Where a suite's files or
programs are not at hand, `make test` says so and skips it, and its last tally stands.
"""


@dataclass(frozen=True)
class Suite:
    name: str
    title: str
    source: str  # where it is, and what was read of it
    done: str  # how its cases come to us


SUITES: tuple[Suite, ...] = (
    Suite(
        "amadeus",
        "Amadeus cloud-cost-allocation",
        "AmadeusITGroup/cloud-cost-allocation at 86e4261f (MIT): its tests 1 to 12, each a bill, keys between services and the amounts expected.",
        "A policy of pools that serve others, written by hand for each case; bills, weights and expected amounts are read from its files. Equal to 1e-9, since "
        "its files hold floats.",
    ),
    Suite(
        "koku",
        "koku's MIG scenarios",
        "project-koku/koku at 768be825, docs/architecture/mig-gpu-support.md (AGPL-3.0; its figures as facts): what GPUs that are cut into slices cost whom.",
        "The engine, with `capacity_rate` over a board that costs what the scenario says. Equal to the cent that they state.",
    ),
    Suite(
        "hashmap",
        "CloudKitty's hashmap",
        "openstack/cloudkitty at 4595e098, cloudkitty/tests/test_hashmap.py (Apache 2.0): the 13 of its 58 tests that state prices, as facts.",
        "Each group of rules is a pool with a price list and a component of its own, so that several count the same hours; each rate is a percentage that an "
        "adjustment adds. Equal to 1e-9, since its prices have gone through binary floats.",
    ),
    Suite(
        "xdmod",
        "Open XDMoD's regression figures",
        "ubccr/xdmod at 33015b5d, tests/artifacts/xdmod (LGPL-3.0; its figures as facts): what Open XDMoD reports of five clusters from 22 December 2016 to 1 "
        "January 2017, of which the accounting of two is at hand, 15,331 jobs. Of queues, users, QOS and groups those that ran on these two alone.",
        "The `slurm` source reads what `sacct` printed; at a price of one an hour the charges are hours. Equal to the four places that it states; days of "
        "nothing count, too.",
    ),
    Suite(
        "nise",
        "Months that nise makes",
        "koku-nise 5.4.4 from PyPI (AGPL-3.0): it makes bills for koku's own tests. A month of AWS, Azure, GCP and OpenShift is made anew for each run, with "
        "reserved instances, savings plans, their negations and fees, and credits. Its Azure bills have no reservations, its AWS bills no credits.",
        "The sources `aws`, `azure`, `google` and `usage` read what it wrote. Equal to the last digit to what the files add up to by themselves.",
    ),
    Suite(
        "litellm",
        "LiteLLM's FOCUS export",
        "litellm 1.106.2 from PyPI (MIT): its own transformer and serializers write a month of spend by key and model, without its server; the rows that its "
        "database would hand over are made up.",
        "The source `focus` reads the files as they are; owners come from `SubAccountName`. Equal to the last digit to what went in.",
    ),
    Suite(
        "focus-validator",
        "The FOCUS validator",
        "focus-validator 2.2.1 from PyPI (MIT) with the rules of FOCUS 1.4, of which two dependencies that it cannot load are changed.",
        "`apportion export focus` of two closed months and an open one, with corrections, transfers and two currencies (`tests/focus_export`); six planted "
        "mistakes are found.",
    ),
)


def page() -> str:
    kept = tally.read()
    told = [suite for suite in SUITES if suite.name in kept]
    return INTRO + "\n" + summary(told, kept) + "".join(section(suite, kept[suite.name]) for suite in told)


def summary(suites: Sequence[Suite], kept: Mapping[str, list[Outcome]]) -> str:
    rows = (
        f"| [{suite.title}](#{anchor(suite.title)}) | {tally.sentence(kept[suite.name]).replace('; ', ' | ')} |\n"
        for suite in suites
    )
    return "| suite | figures | cases |\n|---|---|---|\n" + "".join(rows)


def anchor(title: str) -> str:
    return "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -").replace(" ", "-")


def section(suite: Suite, outcomes: Sequence[Outcome]) -> str:
    rows = "".join(f"| {one.case} | {one.about} | {counted(one)} | {one.why} |\n" for one in outcomes)
    table = f"| case | what it checks | equal | left out, or different |\n|---|---|---|---|\n{rows}"
    return f"\n## {suite.title}\n\n{suite.source}\n\n{suite.done}\n\n{table}"


def counted(one: Outcome) -> str:
    return f"{one.equal} of {one.compared}" if one.compared else one.verdict


def write() -> None:
    PAGE.write_text(page(), encoding="utf-8")
