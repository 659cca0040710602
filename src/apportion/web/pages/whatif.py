"""`/what-if`: what if a pool had another rule or another price, or a draft were adopted? All inputs stand in the URL; nothing is posted."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from apportion.errors import ApportionError
from apportion.policy.load import load_policy
from apportion.policy.methods import METHODS
from apportion.policy.pool_parts import DRIVERS, IDLE_WORDS
from apportion.policy.tree import Path
from apportion.verbs.draft import draft, drafts, policy_text, propose, setting_edit
from apportion.verbs.repriced import Instead, NewPrice, apart, read_price, with_published
from apportion.verbs.whatif import instead, policy_of
from apportion.web.ask import Ask, NotThereError
from apportion.web.effects import computed, differing, effect, told
from apportion.web.frame import Entry
from apportion.web.page import Block, Form, Input, Page, Prose
from apportion.web.routes import Action, Route
from apportion.web.viewer import Deed

AS_IS = "as it is"
SETTINGS = {"method": METHODS, "idle": tuple(IDLE_WORDS), "driver": DRIVERS}
INPUTS = ("pool", *SETTINGS, "price")
INTRO = (
    "Choose a pool, and another rule or another price for it. The month is computed again from what it was posted with, and nothing is posted.",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What to try, what it is in words and as options of the command, and the text of the policy that it is set against."""

    instead: Instead
    what: str
    options: str
    old: str

    @property
    def is_rule(self) -> bool:
        """A bill is nobody's to propose."""
        return self.instead.policy.text != self.old


def what_if(ask: Ask) -> Page:
    blocks: list[Block] = [pool_form(ask)]
    if ask.viewer.may(Deed.propose) and (open_drafts := draft_form(ask)):
        blocks.append(open_drafts)
    title, command = "What if the policy or a price were another?", "apportion whatif --help"
    try:
        asked = asked_for(ask)
        if asked:
            made = computed(ask, asked.instead)
            title = f"With {asked.what}, {made.title[0].lower()}{made.title[1:]}"
            blocks += [told(made), *effect(ask, made)]
            blocks += [differing(asked.old, asked.instead.policy.text)] if asked.is_rule else []
            blocks += [save_form(ask)] if asked.is_rule and not ask.one("draft") else []
            command = f"apportion whatif --period {made.period} {asked.options}"
        else:
            blocks.append(Prose(INTRO))
    except NotThereError:
        raise
    except ApportionError as error:
        title = "That cannot be computed."
        blocks.append(Prose((error.message, error.where, error.hint), tone="bad"))
    return Page("what-if", title, tuple(blocks), command, fleeting=True)


def asked_for(ask: Ask) -> Asked | None:
    """A draft; else another rule, against the file that somebody would change; else a price alone, under the rules that the month was posted with."""
    project, file = ask.project, ask.project.settings.policy
    if number := ask.one("draft"):
        found = draft(project, whole_number(number))
        new = Instead(load_policy(found.text, file))
        return Asked(new, f"draft {found.number}", f"--draft {found.number}", policy_text(project))
    given = {name: ask.one(name) for name in INPUTS}
    changes, prices = settings_of(given), prices_of(given)
    if not changes and not prices:
        return None
    said = " and ".join(
        [f"{path[-1]} {value}" for path, value in changes] + [f"a price of {one.text}" for one in prices]
    )
    old = policy_of(project, ask.month)
    text = setting_edit(project, changes).text if changes else ""
    new = instead(old, ask.month, text, prices)
    options = (["--policy FILE"] if changes else []) + [
        f"--price {shlex.quote(f'{one.pool}={one.text}')}" for one in prices
    ]
    before = policy_text(project) if changes else old.text
    return Asked(new, f"{said} for {given['pool']}", " ".join(options), before)


def settings_of(given: Mapping[str, str]) -> list[tuple[Path, str]]:
    """What the form asks for, as places in the policy and values."""
    pool = given.get("pool", "")
    wanted = {name: given.get(name, "") for name in SETTINGS}
    return [(("pools", pool, name), value) for name, value in wanted.items() if pool and value not in ("", AS_IS)]


def prices_of(given: Mapping[str, str]) -> tuple[NewPrice, ...]:
    said = given.get("price", "").strip()
    return (read_price(given.get("pool", ""), said),) if said else ()


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
        Input("price", "Price", ask.one("price"), hint=HINTS["price"]),
        *period(ask),
    )
    return Form("/what-if", inputs, "Compute", "Another rule or price for a pool", post=False)


HINTS = {
    "method": "How its cost is shared; the methods page tells each by an example.",
    "idle": "Who pays for what stands idle.",
    "driver": "What of a use counts: what was allocated, what was used, or the larger.",
    "price": "+10%, -5%, or an amount: what its bill would come to, or a unit where it has a price list. Empty: as it is.",
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
    given = (Input(name, "", ask.one(name), "hidden") for name in INPUTS)
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
    text = setting_edit(ask.project, settings_of(given)).text
    listed, _ = apart(load_policy(text, ask.project.settings.policy), prices_of(given), ask.month)
    text = with_published(text, ask.project.settings.policy, listed)
    return f"/drafts/{propose(ask.project, text, given.get('why', '')).number}"


ROUTES = (Route("/what-if", what_if, Deed.whole, Entry("What-if", "/what-if", "w", Deed.whole)),)
ACTIONS = (Action("/drafts/setting", save, Deed.propose),)
