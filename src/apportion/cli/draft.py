"""`apportion draft`: propose, list, show, adopt, drop; and rules to start from."""

from pathlib import Path
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb

Number = Annotated[int, typer.Argument(metavar="NUMBER", help="The draft's number.")]


def propose(
    call: Call,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The whole text of the policy that is wanted.")],
    why: Annotated[str, typer.Option(metavar="TEXT", help="Why it is wanted.")],
) -> Answer:
    """Keep a draft of the policy, for others to look at."""
    from apportion.verbs.draft import draft_list, read_text
    from apportion.verbs.draft import propose as keep

    made = keep(call.project(), read_text(file), why)
    number = made.number
    talk = f"Next: apportion {call.flag}whatif --draft {number}   |   apportion {call.flag}draft adopt {number}"
    return Answer(draft_list((made,), f"Draft {number} is open."), (talk,))


def list_(
    call: Call,
    status: Annotated[str, typer.Option(metavar="STATUS", help="Only those: open, adopted or dropped.")] = "",
) -> Answer:
    """List drafts."""
    from apportion.render.sheet import sheet_of
    from apportion.verbs.draft import drafts

    return Answer(sheet_of(drafts(call.project(), status)))


def show(call: Call, number: Number) -> Answer:
    """Show a draft: what it changes, clause by clause, and the difference of the texts."""
    from apportion.render.sheet import Sheet
    from apportion.verbs.draft import draft, looked_at

    project = call.project()
    found = draft(project, number)
    seen = looked_at(project, found)
    title = f"Draft {number} is {found.status}: {found.why} ({found.who})"
    return Answer(Sheet(title, value={"draft": found, **seen}, notes=(*seen["clauses"], seen["diff"])))


def adopt(call: Call, number: Number) -> Answer:
    """Make a draft the policy file; posts nothing.

    Refused if the file changed since the draft was drawn up.
    """
    from apportion.verbs.draft import adopt as take
    from apportion.verbs.draft import draft_list

    done = take(call.project(), number)
    return Answer(draft_list((done,), f"Draft {number} is the policy now."), (f"Next: apportion {call.flag}plan",))


def drop(
    call: Call, number: Number, why: Annotated[str, typer.Option(metavar="TEXT", help="Why it is not wanted.")] = ""
) -> Answer:
    """End a draft without adopting it."""
    from apportion.verbs.draft import draft_list
    from apportion.verbs.draft import drop as end

    return Answer(draft_list((end(call.project(), number, why),), f"Draft {number} is dropped."))


def facets(call: Call) -> Answer:  # noqa: ARG001 - the same for every project
    """Print rules that tell what kind of work it was, to copy and edit.

    Phase, framework, model family, experiment and trial by labels, trackers, commands, images and names; and sizes.
    """
    from apportion.verbs.draft import facet_rules

    return Answer(text=facet_rules())


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Propose, look at and adopt drafts of the policy."
    )
    verb(group, "propose")(propose)
    verb(group, "list")(list_)
    verb(group, "show")(show)
    verb(group, "adopt")(adopt)
    verb(group, "drop")(drop)
    verb(group, "facets", output=False)(facets)
    app.add_typer(group, name="draft")
