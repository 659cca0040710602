"""`/what-if`: what if a pool had another rule or another price, or a draft were adopted? All inputs stand in the URL; nothing is posted."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from apportion.errors import ApportionError, ProjectError
from apportion.model.times import parse_period
from apportion.policy.load import load_policy
from apportion.policy.methods import METHODS
from apportion.policy.pool_parts import DRIVERS, IDLE_WORDS
from apportion.policy.tree import Path
from apportion.render.backtest import backtest_sheet
from apportion.render.sheet import Sheet
from apportion.verbs.draft import draft, drafts, policy_text, propose, setting_edit
from apportion.verbs.repriced import Instead, NewPrice, apart, read_price, with_published
from apportion.verbs.saved import Wish, check_name
from apportion.verbs.saved import save as save_whatif
from apportion.verbs.whatif import instead, policy_of, whatif_sheet
from apportion.web.ask import Ask, NotThereError
from apportion.web.backtests import backtest_blocks, months_of, tested
from apportion.web.effects import computed, differing, effect, told
from apportion.web.frame import Entry
from apportion.web.page import Block, Form, Input, Link, Page, Prose
from apportion.web.routes import Action, Route
from apportion.web.viewer import Deed

AS_IS = "as it is"
SETTINGS = {"method": METHODS, "idle": tuple(IDLE_WORDS), "driver": DRIVERS}
INPUTS = ("pool", *SETTINGS, "price")
ASKED = (*INPUTS, "draft", "beside", "first", "last")
NONE, CHANGED = "none", "changed rules"
INTRO = (
    "Choose a pool, and another rule or another price for it. Months are computed again from what they were posted with, and nothing is posted.",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What to try, what it is in words, and the text of the policy that it is set against."""

    instead: Instead
    what: str
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
        wish = wished(ask)
        if wish is None:
            blocks.append(Prose(INTRO, links=(Link("What was saved", ask.link("/what-if/saved")),)))
        else:
            title, more, command = answered(ask, wish)
            blocks += [*more, keep_form(ask)]
    except NotThereError:
        raise
    except ApportionError as error:
        title = "That cannot be computed."
        blocks.append(Prose((error.message, error.where, error.hint), tone="bad"))
    chosen = len(ask.known_months) > 1  # in the forms
    return Page("what-if", title, tuple(blocks), command, fleeting=True, timeless=chosen)


def answered(ask: Ask, wish: Wish) -> tuple[str, list[Block], str]:
    """A sentence, blocks, and the same question on the command line."""
    if is_several(wish):
        tried = tested(ask, wish)
        proposing = [save_form(ask)] if CHANGED in wish.policies else []
        command = f"apportion whatif --period {tried.period} {options_of(wish)}"
        return tried.title, [*backtest_blocks(ask, tried), *proposing], command
    asked = asked_for(ask, wish)
    made = computed(in_month(ask, wish), asked.instead)
    title = f"With {asked.what}, {made.title[0].lower()}{made.title[1:]}"
    blocks: list[Block] = [told(made), *effect(in_month(ask, wish), made)]
    blocks += [differing(asked.old, asked.instead.policy.text)] if asked.is_rule else []
    blocks += [save_form(ask)] if asked.is_rule and not draft_numbers(ask) else []
    return title, blocks, f"apportion whatif --period {made.period} {options_of(wish)}"


def is_several(wish: Wish) -> bool:
    return len(wish.months) > 1 or len(wish.policies) > 1


def in_month(ask: Ask, wish: Wish) -> Ask:
    return replace(ask, query={**ask.query, "period": [wish.months[0]]})


def wished(ask: Ask) -> Wish | None:
    """What the URL asks for: drafts; else another rule, another price, or both. None where it asks for nothing."""
    numbers, given = draft_numbers(ask), {name: ask.one(name) for name in INPUTS}
    changes, prices = settings_of(given), prices_of(given)
    if not numbers and not changes and not prices:
        return None
    texts = {f"draft {number}": draft(ask.project, number).text for number in numbers}
    if changes and not numbers:
        texts = {CHANGED: setting_edit(ask.project, changes).text}
    said = () if numbers else tuple(f"{one.pool}={one.text}" for one in prices)
    return Wish(tuple(map(str, months_of(ask))), texts, said)


def draft_numbers(ask: Ask) -> list[int]:
    given = [one for name in ("draft", "beside") if (one := ask.one(name)) and one != NONE]
    return list(dict.fromkeys(map(whole_number, given)))


def options_of(wish: Wish) -> str:
    """As options of the command; a text that is in no file yet is one to write."""
    drafts = [name.removeprefix("draft ") for name in wish.policies if name != CHANGED]
    told = [f"--draft {number}" for number in drafts] + ["--policy FILE"] * (CHANGED in wish.policies)
    return " ".join([*told, *(f"--price {shlex.quote(price)}" for price in wish.prices)])


def asked_for(ask: Ask, wish: Wish) -> Asked:
    """A draft; else another rule, against the file that somebody would change; else a price alone, under the rules that the month was posted with."""
    project, file = ask.project, ask.project.settings.policy
    if numbers := draft_numbers(ask):
        text = wish.policies[f"draft {numbers[0]}"]
        return Asked(Instead(load_policy(text, file)), f"draft {numbers[0]}", policy_text(project))
    given = {name: ask.one(name) for name in INPUTS}
    changes, prices = settings_of(given), prices_of(given)
    said = " and ".join(
        [f"{path[-1]} {value}" for path, value in changes] + [f"a price of {one.text}" for one in prices]
    )
    month = parse_period(wish.months[0])
    old = policy_of(project, month)
    new = instead(old, month, wish.policies.get(CHANGED, ""), prices)
    return Asked(new, f"{said} for {given['pool']}", policy_text(project) if changes else old.text)


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
        *window(ask),
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
    other = (Input("beside", "Beside it", ask.one("beside", NONE), choices=(NONE, *numbers)),) if numbers[1:] else ()
    inputs = (Input("draft", "Draft", ask.one("draft"), choices=numbers), *other, *window(ask))
    return Form("/what-if", inputs, "Compute", "A draft", post=False)


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


def keep_form(ask: Ask) -> Form:
    """All that was asked goes with it."""
    given = [Input(name, "", ask.one(name), "hidden") for name in ASKED if ask.one(name)]
    name = Input("name", "Name", needed=True, hint="Others find it by its name, and by its link.")
    says = "It is kept as it is now, with what was asked."
    return Form("/what-if/save", (*given, *period(ask), name), "Save", "Save it, and share it by its link", says=says)


def window(ask: Ask) -> tuple[Input, ...]:
    """Posted months to choose from; one alone is asked for by its name."""
    months = tuple(sorted(ask.known_months))
    if not months[1:]:
        return period(ask)
    own = str(ask.months[-1])
    return (
        Input("first", "From", ask.one("first", own), choices=months),
        Input("last", "Until", ask.one("last", own), choices=months, hint="Several months are a back-test."),
    )


def period(ask: Ask) -> tuple[Input, ...]:
    return (Input("period", "", str(ask.months[-1]), "hidden"),) if ask.known_months else ()


def keep(ask: Ask, given: dict[str, str]) -> str:
    """Saves what the form was sent with; who computed it a moment ago has it kept."""
    ask.require(Deed.whole)
    asking = replace(ask, query={name: [value] for name, value in given.items() if name in (*ASKED, "period")})
    name, wish = check_name(ask.project, given.get("name", "")), wished(asking)
    if wish is None:
        raise ProjectError("nothing-asked", "neither a policy nor a price is given", hint="ask for something first")
    return f"/what-if/saved/{save_whatif(ask.project, name, wish, sheet_of(asking, wish)).id}"


def sheet_of(ask: Ask, wish: Wish) -> Sheet:
    """As the command prints it."""
    if is_several(wish):
        return backtest_sheet(tested(ask, wish))
    return whatif_sheet(computed(in_month(ask, wish), asked_for(ask, wish).instead))


def save(ask: Ask, given: dict[str, str]) -> str:
    ask.require(Deed.whole)
    text = setting_edit(ask.project, settings_of(given)).text
    listed, _ = apart(load_policy(text, ask.project.settings.policy), prices_of(given), ask.month)
    text = with_published(text, ask.project.settings.policy, listed)
    return f"/drafts/{propose(ask.project, text, given.get('why', '')).number}"


ROUTES = (Route("/what-if", what_if, Deed.whole, Entry("What-if", "/what-if", "w", Deed.whole)),)
ACTIONS = (Action("/drafts/setting", save, Deed.propose), Action("/what-if/save", keep, Deed.whole))
