"""`/policy`: what was agreed, in sentences and as it is written; its versions, and what differs between two. Teams see what is about them."""

from collections.abc import Mapping

from apportion.books.shapes import CLOSE, PLAN
from apportion.policy.aloud import Ears, Said, read_aloud
from apportion.policy.document import Policy
from apportion.policy.load import load_policy
from apportion.render.sheet import Table
from apportion.reports.report import Column
from apportion.reports.words import counted
from apportion.verbs.agreement import short
from apportion.web.ask import Ask, NotThereError, at
from apportion.web.effects import computed, differing, effect, numbered, told
from apportion.web.frame import Entry
from apportion.web.page import Block, Branch, Form, Input, Link, Page, Prose, Rows, Tree
from apportion.web.routes import Route
from apportion.web.viewer import Deed

FILE = "file"  # the policy file as it is now, where a version is asked for
SHORT = 12


def policy(ask: Ask) -> Page:
    found = ask.project.policy
    if not ask.viewer.may(Deed.whole) or ask.viewer.teams is not None:
        return own(ask, found)
    title = f"{found.name} shares {counted(len(found.pools), 'pool')} over {counted(len(found.teams), 'team')}, in force from {found.effective}."
    blocks: list[Block] = [
        aloud(found, Ears()),
        versions(ask),
        numbered(found.text, f"{found.file}, as it is written"),
        Prose(
            heading="To change it",
            links=(Link("Try a change", ask.link("/what-if")), Link("Drafts", ask.link("/drafts"))),
        ),
    ]
    return Page("policy", title, tuple(blocks), "apportion check", (*found.warnings, f"version {found.version}"))


def own(ask: Ask, found: Policy) -> Page:
    """What it says about the viewer's teams and the pools that they pay for; nothing tells how much more there is."""
    teams = sorted(ask.viewer.teams or ())
    title = f"What the policy says about {', '.join(teams)}." if teams else "The policy says nothing about you yet."
    return Page("policy", title, (aloud(found, Ears(frozenset(teams), charged_pools(ask))),))


def charged_pools(ask: Ask) -> frozenset[str]:
    """Those that the viewer's teams are charged from in the asked months."""
    if not ask.known_months:
        return frozenset()
    posted = ask.record(ask.project, ask.months).posted
    return frozenset(posted["pool"].unique().to_pylist())


def aloud(found: Policy, ears: Ears) -> Tree:
    return Tree(tuple(branch(said) for said in read_aloud(found, ears)), "In sentences")


def branch(said: Said) -> Branch:
    place = f"  (line {said.line})" if said.line else ""
    return Branch(said.text + place, f"#L{said.line}" if said.line else "", tuple(branch(part) for part in said.parts))


def versions(ask: Ask) -> Rows:
    """Newest first; the file is there, too, where nothing was planned with it yet."""
    known = {one.version: (one.name, one.effective) for one in reversed(ask.project.books.policies())}
    current = ask.project.policy
    if current.version not in known:
        known = {current.version: (current.name, str(current.effective)), **known}
    months = posted_with(ask)
    rows = tuple(
        (
            version[:SHORT],
            name,
            effective,
            "the file" if version == current.version else "",
            ", ".join(months.get(version, ())),
        )
        for version, (name, effective) in known.items()
    )
    columns = tuple(
        Column(name, title)
        for name, title in (
            ("version", "version"),
            ("name", "policy"),
            ("effective", "from"),
            ("now", "now"),
            ("months", "months posted"),
        )
    )
    links = {
        "version": [ask.link(at("/policy", version[:SHORT])) for version in known],
        "months": [
            ask.link("/policy/diff", **{"from": version[:SHORT], "to": FILE}) if len(known) > 1 else ""
            for version in known
        ],
    }
    return Rows(Table(columns, rows), "Versions", links)


def posted_with(ask: Ask) -> Mapping[str, list[str]]:
    """The months that each version was last posted with."""
    last = {run.period: run.policy_version for run in ask.project.books.runs() if run.kind in (PLAN, CLOSE)}
    found: dict[str, list[str]] = {}
    for month, version in sorted(last.items()):
        found.setdefault(version, []).append(month)
    return found


def version_named(ask: Ask, name: str) -> Policy:
    """By the beginning of its version, or the file as it is now."""
    if name == FILE or (name and ask.project.policy.version.startswith(name)):
        return ask.project.policy
    for stored in ask.project.books.policies():
        if len(name) >= 4 and stored.version.startswith(name):
            return load_policy(stored.text, stored.file)
    raise NotThereError("such policy")


def version(ask: Ask, name: str) -> Page:
    found = version_named(ask, name)
    months = posted_with(ask).get(found.version, [])
    posted = f"posted {', '.join(months)}" if months else "nothing was posted with it"
    title = f"{short(found)}, from {found.effective}: {posted}."
    blocks = (
        Prose(links=(Link("Against the file as it is now", ask.link("/policy/diff", **{"from": name, "to": FILE})),)),
        aloud(found, Ears()),
        numbered(found.text, f"{found.file}, as it was written"),
    )
    return Page("policy-version", title, blocks, crumbs=(Link("Policy", ask.link("/policy")),))


def diff(ask: Ask) -> Page:
    """What differs, and who gains and loses by it over one month."""
    known = [one.version[:SHORT] for one in ask.project.books.policies()]
    old, new = (
        version_named(ask, ask.one(name, default))
        for name, default in (("from", known[-1] if known else FILE), ("to", FILE))
    )
    choices = (FILE, *reversed(known))
    form = Form(
        "/policy/diff",
        (
            Input("from", "From", ask.one("from") or (known[-1] if known else FILE), choices=choices),
            Input("to", "To", ask.one("to") or FILE, choices=choices),
            *([Input("period", "", ask.period, "hidden")] if ask.known_months else []),
        ),
        "Compare",
        post=False,
    )
    blocks: list[Block] = [form]
    title = f"{short(old)} and {short(new)} say the same."
    if old.version != new.version and ask.known_months:
        made = computed(ask, new, old)
        title = made.title
        blocks += [told(made), *effect(ask, made)]
    blocks.append(differing(old.text, new.text))
    crumbs = (Link("Policy", ask.link("/policy")),)
    return Page(
        "policy-diff",
        title,
        tuple(blocks),
        f"apportion whatif --policy {new.file} --period {ask.period}",
        crumbs=crumbs,
    )


ROUTES = (
    Route("/policy", policy, entry=Entry("Policy", "/policy", "y")),
    Route("/policy/diff", diff, Deed.whole),
    Route("/policy/{version}", version, Deed.whole),
)
