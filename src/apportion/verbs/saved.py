"""What-ifs that are kept: saved with what was asked and what it came to then, shown again, forgotten, and turned into drafts of the policy."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from apportion.books.proposals import Proposal
from apportion.books.shapes import CLOSE, StoredRun
from apportion.books.whatifs import SavedWhatif, name_taken
from apportion.errors import ProjectError
from apportion.model.times import instant_text, parse_period
from apportion.policy.load import load_policy
from apportion.render.kept import packed, unpacked
from apportion.render.sheet import Sheet, Table
from apportion.reports.report import Column
from apportion.reports.words import counted
from apportion.verbs.draft import propose
from apportion.verbs.project import Project
from apportion.verbs.repriced import apart, read_prices, with_published
from apportion.verbs.supposed import Changes, read_changes, supposed
from apportion.verbs.whatif import policy_of

LONGEST = 120  # characters of a name
COLUMNS = ("name", "period", "when", "who", "id")


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked: policies by what each is called, prices, other changes and variants as they were written, over some months."""

    months: tuple[str, ...]
    policies: Mapping[str, str] = field(default_factory=dict)
    prices: tuple[str, ...] = ()
    changes: Changes = field(default_factory=Changes)
    variants: tuple[str, ...] = ()


def save(project: Project, name: str, wish: Wish, sheet: Sheet) -> SavedWhatif:
    """`sheet` is what it came to; it is kept as it is."""
    given = check_name(project, name)
    return project.books.whatifs.save(given, wish.months, asked_text(wish), packed(sheet))


def asked_text(wish: Wish) -> str:
    said = {"policies": dict(wish.policies), "prices": list(wish.prices)}
    more = {"changes": asdict(wish.changes) if wish.changes else None, "variants": wish.variants}
    return json.dumps(said | {name: one for name, one in more.items() if one}, sort_keys=True, ensure_ascii=False)


def check_name(project: Project, name: str) -> str:
    """Told before anything is computed for it."""
    given = name.strip()
    if not given or "\n" in given or len(given) > LONGEST:
        why = f"{name[:60]!r} is no name: one line, at most {LONGEST} characters"
        raise ProjectError("whatif-name", why, hint="choose another name")
    if any(given == one.name for one in saved(project)):
        raise name_taken(given)
    return given


def saved(project: Project) -> list[SavedWhatif]:
    """Oldest first."""
    return project.books.whatifs.all()


def forget(project: Project, which: str) -> SavedWhatif:
    return project.books.whatifs.forget(which)


def wish_of(found: SavedWhatif) -> Wish:
    said = json.loads(found.asked)
    changes = Changes(**{kind: tuple(some) for kind, some in said.get("changes", {}).items()})
    return Wish(found.months, said["policies"], tuple(said["prices"]), changes, tuple(said.get("variants", ())))


def shown(project: Project, found: SavedWhatif) -> Sheet:
    """What it showed then; who saved it and when, and whether the record moved since."""
    sheet = unpacked(found.result)
    value = {
        "name": found.name, "id": found.id, "who": found.who, "when": instant_text(found.at_s), "head": found.head,
        "period": label(found.months), "moved": moved_since(project, found), "answer": sheet.value,
    }  # fmt: skip
    return Sheet(f"{found.name}: {sheet.title}", sheet.tables, value, (*standing(project, found), *sheet.notes))


def standing(project: Project, found: SavedWhatif) -> tuple[str, ...]:
    said = f"Saved by {found.who} at {instant_text(found.at_s)}; the ledger's head was {found.head}."
    return (said, *filter(None, [moved_since(project, found)]))


def moved_since(project: Project, found: SavedWhatif) -> str:
    """Empty while what is posted for its months is what it was."""
    later = runs_after(project.books.runs(), found.head)
    months = sorted({run.about or run.period for run in later} & set(found.months))
    if not months:
        return ""
    return f"What is posted for {', '.join(months)} changed since: asked again, it may come to something else."


def runs_after(runs: Sequence[StoredRun], head: str) -> list[StoredRun]:
    """Those that left the ledger at another head later; closing a month changes no figure."""
    heads = [run.head_after for run in runs]
    later = runs[heads.index(head) + 1 :] if head in heads else runs
    return [run for run in later if run.kind != CLOSE]


def turned(project: Project, wish: Wish, why: str) -> Proposal:
    """A draft of the policy that was tried."""
    return propose(project, text_of(project, wish), why)


def text_of(project: Project, wish: Wish) -> str:
    """The policy that was tried. A bill is nobody's to propose: only rules, and prices that the policy publishes, are."""
    tried = len(wish.policies) + len(wish.variants)
    if tried > 1 or wish.variants:
        why = f"{counted(tried, 'policy or variant was', 'policies or variants were')} tried, and a draft is one policy"
        raise ProjectError("one-policy", why, hint="ask about one of them alone")
    month, file = parse_period(wish.months[-1]), project.settings.policy
    old = policy_of(project, month)
    rules = read_changes(replace(wish.changes, price=(), capacity=()))
    text = supposed(old, month, next(iter(wish.policies.values()), ""), rules).policy.text
    listed, _ = apart(load_policy(text, file), read_prices((*wish.prices, *wish.changes.price)), month)
    if text == old.text and not wish.policies and not listed:
        why = "nothing but a bill would be another: there is no rule to propose"
        raise ProjectError("no-rule-changes", why, hint="try another policy, or a price that the policy publishes")
    return with_published(text, file, listed)


def list_sheet(found: Sequence[SavedWhatif]) -> Sheet:
    rows = tuple((one.name, label(one.months), instant_text(one.at_s), one.who, one.id) for one in found)
    table = Table(tuple(Column(name, name) for name in COLUMNS), rows)
    told = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    return Sheet(f"{counted(len(found), 'what-if is', 'what-ifs are')} saved.", (table,), {"saved": told})


def label(months: Sequence[str]) -> str:
    return months[0] if len(months) == 1 else f"{months[0]}..{months[-1]}"
