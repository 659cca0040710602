"""`/what-if`: what if a pool had another rule, or a draft were adopted? All inputs stand in the URL; nothing is posted."""

from collections.abc import Mapping
from dataclasses import dataclass

from apportion.errors import ApportionError
from apportion.policy.load import load_policy
from apportion.policy.methods import METHODS
from apportion.policy.pool_parts import DRIVERS, IDLE_WORDS
from apportion.policy.tree import Path
from apportion.verbs.draft import draft, drafts, policy_text, propose, setting_edit
from apportion.web.ask import Ask, NotThereError
from apportion.web.effects import computed, differing, effect, told
from apportion.web.frame import Entry
from apportion.web.page import Block, Form, Input, Page, Prose
from apportion.web.routes import Action, Route
from apportion.web.viewer import Deed

AS_IS = "as it is"
SETTINGS = {"method": METHODS, "idle": tuple(IDLE_WORDS), "driver": DRIVERS}


@dataclass(frozen=True, slots=True)
class Asked:
    """A text to try, and what it is in words."""

    text: str
    what: str
    number: int = 0


def what_if(ask: Ask) -> Page:
    blocks: list[Block] = [pool_form(ask)]
    if ask.viewer.may(Deed.propose) and (open_drafts := draft_form(ask)):
        blocks.append(open_drafts)
    title, command = "What if the policy were another?", ""
    try:
        asked = asked_text(ask)
        if asked:
            made = computed(ask, load_policy(asked.text, ask.project.settings.policy))
            title = f"With {asked.what}, {made.title[0].lower()}{made.title[1:]}"
            old = policy_text(ask.project)
            blocks += [told(made), *effect(ask, made), differing(old, asked.text)]
            blocks += [] if asked.number else [save_form(ask)]
            command = f"apportion whatif --period {made.period} " + (
                f"--draft {asked.number}" if asked.number else "--policy FILE"
            )
        else:
            blocks.append(
                Prose(
                    (
                        "Choose a pool and another rule for it. The month is computed again from what it was posted with, and nothing is posted.",
                    )
                )
            )
    except NotThereError:
        raise
    except ApportionError as error:
        title = "That policy cannot be computed."
        blocks.append(Prose((error.message, error.where, error.hint), tone="bad"))
    return Page("what-if", title, tuple(blocks), command, fleeting=True)


def asked_text(ask: Ask) -> Asked | None:
    if number := ask.one("draft"):
        found = draft(ask.project, whole_number(number))
        return Asked(found.text, f"draft {found.number}", found.number)
    changes = settings_of({name: ask.one(name) for name in ("pool", *SETTINGS)})
    if not changes:
        return None
    said = " and ".join(f"{path[-1]} {value}" for path, value in changes)
    return Asked(setting_edit(ask.project, changes).text, f"{said} for {changes[0][0][1]}")


def settings_of(given: Mapping[str, str]) -> list[tuple[Path, str]]:
    """What the form asks for, as places in the policy and values."""
    pool = given.get("pool", "")
    wanted = {name: given.get(name, "") for name in SETTINGS}
    return [(("pools", pool, name), value) for name, value in wanted.items() if pool and value not in ("", AS_IS)]


def whole_number(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise NotThereError("such draft")
    return int(text)


def pool_form(ask: Ask) -> Form:
    pools = tuple(ask.project.policy.pools)
    inputs = (
        Input("pool", "Pool", ask.one("pool", pools[0] if pools else ""), choices=pools),
        *(
            Input(name, name.capitalize(), ask.one(name, AS_IS), choices=(AS_IS, *words), hint=HINTS[name])
            for name, words in SETTINGS.items()
        ),
        *period(ask),
    )
    return Form("/what-if", inputs, "Compute", "Another rule for a pool", post=False)


HINTS = {
    "method": "How its cost is shared; the methods page tells each by an example.",
    "idle": "Who pays for what stands idle.",
    "driver": "What of a use counts: what was allocated, what was used, or the larger.",
}


def draft_form(ask: Ask) -> Form | None:
    numbers = tuple(str(one.number) for one in drafts(ask.project, "open"))
    if not numbers:
        return None
    return Form(
        "/what-if",
        (Input("draft", "Draft", ask.one("draft"), choices=numbers), *period(ask)),
        "Compute",
        "A draft",
        post=False,
    )


def save_form(ask: Ask) -> Form:
    given = (Input(name, "", ask.one(name), "hidden") for name in ("pool", *SETTINGS))
    why = Input("why", "Why", needed=True, hint="For those who decide on it.")
    return Form(
        "/drafts/setting",
        (*given, why),
        "Save as a draft",
        "Propose it",
        says="The policy stays as it is until somebody adopts the draft.",
    )


def period(ask: Ask) -> tuple[Input, ...]:
    return (Input("period", "", ask.period, "hidden"),) if ask.known_months else ()


def save(ask: Ask, given: dict[str, str]) -> str:
    ask.require(Deed.whole)
    edited = setting_edit(ask.project, settings_of(given))
    return f"/drafts/{propose(ask.project, edited.text, given.get('why', '')).number}"


ROUTES = (Route("/what-if", what_if, Deed.whole, Entry("What-if", "/what-if", "w", Deed.whole)),)
ACTIONS = (Action("/drafts/setting", save, Deed.propose),)
