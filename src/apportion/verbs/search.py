"""Find something by its name: what somebody may see of it is cut out first, and only that is matched and counted.

The catalogue holds every name once. It is made of the ledger's owners, the charges and the workloads; postings are looked up in the ledger itself.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import Dispute
from apportion.engine.label_sets import rows_named
from apportion.errors import ProjectError
from apportion.model.rows import SYSTEM_OWNERS, TEXT
from apportion.model.times import parse_period
from apportion.reports.words import shown
from apportion.verbs.agreement import policy_for
from apportion.verbs.charged import told
from apportion.verbs.job_clusters import ClusterJob, jobs_apart
from apportion.verbs.job_names import runs_called, without_attempt
from apportion.verbs.owning import TEAMS, teams_by_rule
from apportion.verbs.project import Project

EXACT, BEGINS, INSIDE = "exact", "begins so", "has it inside"
RANKS = (EXACT, BEGINS, INSIDE)
MOST = 20  # of a kind are shown; how many there are is said
LONGEST = 200
RUNS = ("workload", "run", "name")
NONE = len(RANKS)
OWNED = {"team": ("team",), "project": ("team", "project"), "user": ("user",), "pool": ("pool",)}
KINDS = (*OWNED, "run", "posting", "statement", "dispute")
SYSTEM = pa.array(SYSTEM_OWNERS, TEXT)
Teams = frozenset[str] | None  # those that somebody may see; None for all
Row = dict[str, Any]
Named = tuple[pa.Table, pa.Table]  # runs, and teams
Ranks = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Hit:
    """`names` say which one it is: of a project its team and its own, of a statement its month and its owner. `about` is for reading."""

    kind: str
    names: tuple[str, ...]
    called: str
    about: str
    rank: str


Hits = tuple[list[Hit], int]


@dataclass(frozen=True, slots=True)
class Found:
    """The best of each kind, and how many there are of each."""

    asked: str
    hits: tuple[Hit, ...]
    counts: tuple[tuple[str, int], ...]

    @property
    def only(self) -> Hit | None:
        """The one thing that is called so, if there is one."""
        exact = [hit for hit in self.hits if hit.rank == EXACT]
        return exact[0] if len(exact) == 1 else None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """`owners`: team, project, user, pool. `runs`: workload, run, name; `teams`: whose each run is. `invoices`: period, team, number."""

    owners: pa.Table
    runs: pa.Table
    teams: pa.Table
    invoices: tuple[tuple[str, str, str], ...]
    disputes: tuple[Dispute, ...]

    def within(self, seen: Teams) -> "Catalogue":
        """What somebody may see. A run is theirs to see where all of its owners are."""
        if seen is None:
            return self
        mine = pa.array(sorted(seen), TEXT)
        foreign = self.teams.filter(pc.invert(pc.is_in(self.teams["team"], mine)))
        every, own = known_teams(self.owners), pc.is_in(self.teams["team"], mine)
        runs = pc.and_(
            pc.is_in(self.runs["run"], self.teams.filter(own)["run"].combine_chunks()),
            pc.invert(pc.is_in(self.runs["run"], foreign["run"].combine_chunks())),
        )
        return Catalogue(
            self.owners.filter(pc.is_in(self.owners["team"], mine)),
            self.runs.filter(runs),
            self.teams.filter(own),
            tuple(one for one in self.invoices if one[1] in seen),
            tuple(one for one in self.disputes if is_of(one.owner, seen, every)),
        )

    def run_of(self, name: str) -> str | None:
        """The run that is called so, or that a workload of that name belongs to."""
        if pc.any(pc.equal(self.runs["run"], name)).as_py():
            return name
        found = pc.unique(self.runs.filter(pc.equal(self.runs["workload"], name))["run"])
        short = runs_called(self.runs, name) if not len(found) else []
        return str(found[0]) if len(found) else short[0] if len(short) == 1 else None


def known_teams(owners: pa.Table) -> list[str]:
    return [team for team in pc.unique(owners["team"]).to_pylist() if team not in SYSTEM_OWNERS]


def is_of(path: str, seen: Collection[str], teams: Collection[str]) -> bool:
    """Whether an owner's path (TEAM/PROJECT/USER) is of a team that somebody sees. Names have slashes: where it could be of two, both must be."""
    maybe = [team for team in {*teams, *seen} if path == team or path.startswith(f"{team}/")]
    return bool(maybe) and all(team in seen for team in maybe)


def catalogue(project: Project, work: Named | None = None) -> Catalogue:
    """`work` where the caller has it already."""
    books, (runs, teams) = project.books, work or named_work(project)
    return Catalogue(books.owners(), runs, teams, tuple(books.invoices()), tuple(books.disputes()))


def named_work(project: Project) -> Named:
    """Every run by its names, and whose each is: by the evidence and the policies alone, whatever is posted."""
    books = project.books
    runs = books.scan("workloads", columns=[*RUNS, "source", "label_set"])
    apart = jobs_apart(project)
    runs = runs.filter(pc.invert(pc.is_in(runs["run"], pa.array([job.run for job in apart], TEXT)))) if apart else runs
    paid = charged(project)
    teams = pa.concat_tables([paid, uncharged(project, runs, paid)])
    some = told(rows_named(runs, pa.concat_arrays([pc.unique(runs["workload"]), pc.unique(teams["workload"])])))
    joined = teams.join(some.select(["workload", "run"]), "workload", join_type="inner").select(["run", "team"])
    some = pa.concat_tables([some, *(job.known.select(some.column_names).cast(some.schema) for job in apart)])
    joined = pa.concat_tables([joined, *(teams_of_job(project, job).cast(joined.schema) for job in apart)])
    return lowered(some), joined.group_by(["run", "team"]).aggregate([])


def teams_of_job(project: Project, job: ClusterJob) -> pa.Table:
    """Run and team: those that were charged, else those by the rules."""
    found = job.charged(project)["team"]
    teams = pc.unique(found if len(found) else by_rules(project, job.rows)["team"])
    return pa.table({"run": pa.array([job.name] * len(teams), TEXT), "team": teams})


def lowered(runs: pa.Table) -> pa.Table:
    """With each name once more as it is compared."""
    for name in RUNS:
        runs = runs.append_column(f"{name}_low", pc.utf8_lower(pc.fill_null(runs[name], "")))
    return runs.append_column("job_low", without_attempt(runs["workload_low"]))


def charged(project: Project) -> pa.Table:
    return project.books.scan("charges", columns=TEAMS.names).group_by(TEAMS.names).aggregate([]).cast(TEAMS)


def uncharged(project: Project, runs: pa.Table, paid: pa.Table) -> pa.Table:
    """Of work that nothing is charged for, the teams by the policy's rules, month by month."""
    rest = runs.filter(pc.invert(pc.is_in(runs["workload"], pc.unique(paid["workload"]))))
    if not len(rest):
        return TEAMS.empty_table()
    return by_rules(
        project, project.books.scan("workloads", where=pc.field("workload").isin(pc.unique(rest["workload"])))
    )


def by_rules(project: Project, rows: pa.Table) -> pa.Table:
    months = pc.strftime(pc.cast(rows["start_s"], pa.timestamp("s")), "%Y-%m")
    made = [TEAMS.empty_table()]
    for month in sorted(pc.unique(months).to_pylist()):
        with suppress(ProjectError):  # no policy was in force: it is nobody's
            policy = policy_for(project, parse_period(month))
            made.append(teams_by_rule(policy, rows.filter(pc.equal(months, month))))
    return pa.concat_tables(made)


def search(project: Project, known: Catalogue, text: str, seen: Teams) -> Found:
    """`known` is what may be seen of the catalogue (`within`), `seen` the teams that it was cut to."""
    asked = normalize("NFC", text.strip())
    if not asked or len(asked) > LONGEST:
        return Found(asked, (), ())
    found = [*of_owners(known.owners, asked.lower()), of_runs(known, asked.lower())]
    found += [
        of_postings(project, asked.lower(), seen),
        of_invoices(known, asked.lower()),
        of_disputes(known, asked.lower()),
    ]
    hits = sorted((hit for some, _ in found for hit in some), key=lambda hit: RANKS.index(hit.rank))
    counts = ((kind, count) for kind, (_, count) in zip(KINDS, found, strict=True) if count)
    return Found(asked, tuple(hits), tuple(counts))


def ranks(low: pa.ChunkedArray | pa.Array, asked: str) -> Ranks:
    """Of each name its place in RANKS, or NONE."""
    met = (pc.equal(low, asked), pc.starts_with(low, asked), pc.match_substring(low, asked))
    return np.select([np.asarray(one) for one in met], [0, 1, 2], NONE)


def best(names: pa.Table, rank: Ranks) -> tuple[pa.Table, int]:
    """The first rows by rank and name, and how many there are; `names` are distinct."""
    place = names.column_names
    found = names.append_column("rank", pa.array(rank)).filter(pa.array(rank < NONE))
    ordered = found.sort_by([(name, "ascending") for name in ("rank", *place)])
    return ordered.slice(0, MOST), len(found)


def of_owners(owners: pa.Table, asked: str) -> Iterator[Hits]:
    for kind, keys in OWNED.items():
        names = owners.select(list(keys)).group_by(list(keys)).aggregate([])
        names = names.filter(pc.and_(pc.not_equal(names[keys[-1]], ""), pc.invert(pc.is_in(names[keys[0]], SYSTEM))))
        rank = ranks(pc.utf8_lower(names[keys[-1]]), asked)
        if len(keys) > 1:
            rank = np.minimum(rank, ranks(pc.utf8_lower(pc.binary_join_element_wise(*names.columns, "/")), asked))
        few, count = best(names, rank)
        yield [owner_hit(kind, row, owners) for row in few.to_pylist()], count


def owner_hit(kind: str, row: Row, owners: pa.Table) -> Hit:
    names = tuple(row[key] for key in OWNED[kind])
    teams = owners.filter(pc.equal(owners["user"], names[0]))["team"] if kind == "user" else owners["team"].slice(0, 0)
    about = ", ".join(sorted(set(teams.to_pylist()) - set(SYSTEM_OWNERS)))
    return Hit(kind, names, "/".join(names), about and f"works for {about}", RANKS[row["rank"]])


def of_runs(known: Catalogue, asked: str) -> Hits:
    runs = known.runs
    rank = np.minimum.reduce([ranks(runs[f"{name}_low"], asked) for name in RUNS])
    ends = pc.or_(pc.ends_with(runs["run_low"], f"/{asked}"), pc.ends_with(runs["job_low"], f"/{asked}"))
    rank = np.where(np.asarray(ends), RANKS.index(EXACT), rank)  # the id that the scheduler writes
    some = runs.select(["run"]).append_column("rank", pa.array(rank)).filter(pa.array(rank < NONE))
    names = some.group_by("run").aggregate([("rank", "min")])
    few, count = best(names.select(["run"]), np.asarray(names["rank_min"]))
    ids = few["run"].combine_chunks()
    called = {
        row["run"]: row["name"] for row in runs.filter(pc.is_in(runs["run"], ids)).select(["run", "name"]).to_pylist()
    }
    teams = known.teams.filter(pc.is_in(known.teams["run"], ids)).to_pylist()
    return [
        Hit(
            "run",
            (row["run"],),
            row["run"],
            run_text(called[row["run"]], [one["team"] for one in teams if one["run"] == row["run"]]),
            RANKS[row["rank"]],
        )
        for row in few.to_pylist()
    ], count


def run_text(name: str | None, teams: Sequence[str]) -> str:
    return " of ".join(filter(None, (name, ", ".join(sorted(teams)))))


def of_postings(project: Project, asked: str, seen: Teams) -> Hits:
    """By number, or by the beginning of a hash; more than are shown are not counted."""
    rows = project.books.find_entries(asked, seen, MOST).to_pylist()
    return [
        Hit(
            "posting",
            (str(row["seq"]), row["period"]),
            str(row["seq"]),
            posting_text(row),
            EXACT if asked in (str(row["seq"]), row["hash"]) else BEGINS,
        )
        for row in rows
    ], len(rows)


def posting_text(row: Row) -> str:
    owner = "/".join(filter(None, (row["team"], row["project"], row["user"])))
    return f"{owner}: {row['pool'] or 'no pool'} {row['reason']} of {row['day']}, {shown(row['amount'], row['currency'])}; {row['hash'][:12]}"


def of_invoices(known: Catalogue, asked: str) -> Hits:
    found = [
        Hit("statement", (period, team), number, f"{team}, {period}", rank)
        for period, team, number in known.invoices
        if (rank := ranked(number.lower(), asked))
    ]
    return found[:MOST], len(found)


def of_disputes(known: Catalogue, asked: str) -> Hits:
    """By number, by what is disputed, or by a word of the reason."""
    found = []
    for one in known.disputes:
        said = f"{one.name}\n{one.notes[0].text}".lower()
        rank = EXACT if asked.removeprefix("#") == str(one.number) else INSIDE if asked in said else ""
        about = f"{one.kind} {one.name}, {one.period}, {one.status}"
        found += [Hit("dispute", (str(one.number),), str(one.number), about, rank)] if rank else []
    return found[:MOST], len(found)


def ranked(name: str, asked: str) -> str:
    return EXACT if name == asked else BEGINS if name.startswith(asked) else INSIDE if asked in name else ""
