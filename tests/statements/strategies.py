"""Statements to draw: any names, any currency, amounts of either sign, sections full or empty; what must add up does."""

from hypothesis import strategies as st

from apportion.reports.statement import shape

HOSTILE = (
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2",
    "@SUM(A1)",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><style>*{}",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "#set text(red)",
    '#read("policy.yaml")',
    "*bold* _it_ `code` $x$ [a](b) <label> @ref // no",
    "| pipe | and \\ back",
    "![x](https://example.org/x.png)",
    "&lt;b&gt; &amp;",
    "a,b;c\td",
    "line\nbreak\r\n",
    "\u202egnp.exe",
    "zero\u200bwidth\u00a0space",
    "\u05de\u05d7\u05dc\u05e7\u05d4",
    "\u0641\u0631\u064a\u0642",
    "\u89c6\u89c9\u7814\u7a76\u7ec4",
    "e\u0301\u0332 \U0001f680",
    "n" * 200,
    " ",
)
names = st.sampled_from(HOSTILE) | st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40
)
plain = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=14)
amounts = st.integers(-(10**9), 10**9)
hours = st.decimals(0, 10**6, places=6).map(lambda found: f"{found:f}")
maybe = st.none() | amounts


@st.composite
def lines(draw: st.DrawFn, whole: int, named: st.SearchStrategy[str]) -> tuple[shape.Line, ...]:
    """Of different names, adding up to the whole."""
    found = draw(st.lists(st.tuples(named, amounts, maybe), min_size=1, max_size=5, unique_by=lambda line: line[0]))
    last, before = found[-1][0], found[-1][2]
    rest = whole - sum(amount for _, amount, _ in found[:-1])
    return (*(shape.Line(*line) for line in found[:-1]), shape.Line(last, rest, before))


@st.composite
def changes(draw: st.DrawFn, moved: int, named: st.SearchStrategy[str]) -> tuple[shape.Change, ...]:
    found = draw(st.lists(st.tuples(st.sampled_from(shape.DRIVERS), named, amounts), max_size=4))
    rest = moved - sum(amount for _, _, amount in found)
    return (*(shape.Change(*change) for change in found), shape.Change("other", "", rest))


@st.composite
def statements(draw: st.DrawFn, named: st.SearchStrategy[str] = names) -> shape.Statement:
    owed, before, carried = draw(amounts), draw(maybe), draw(st.sampled_from((0, 0, 12_345)))
    mode, draft = draw(st.sampled_from(("chargeback", "showback"))), draw(st.booleans())
    shown = mode == "showback"
    carried = 0 if shown else carried
    some = st.lists(named, max_size=3, unique=True)
    text = st.just("") | named
    work = st.builds(
        shape.Workload, named, text, text, text, st.sampled_from(("GPU", "")), hours, st.none() | hours, amounts, maybe
    )
    use = st.builds(shape.Use, named, st.just("GPU"), hours, st.none() | hours, hours, amounts, maybe, maybe)
    given, sides = st.sampled_from(("given", "received")), st.sampled_from(("in", "out"))
    return shape.Statement(
        template=shape.TEMPLATE,
        number="" if shown or draft else draw(named),
        period=draw(st.sampled_from(("2026-10", "2026-01", "2026-Q3"))),
        level=draw(st.sampled_from(shape.LEVELS)),
        owner=draw(named),
        mode=mode,
        currency=draw(st.sampled_from(("USD", "JPY", "KWD"))),
        digits=draw(st.sampled_from((0, 2, 3))),
        issuer=draw(text),
        issued="" if draft else "2026-11-05",
        head="0123456789abcdef" * 4,
        policy=draw(named),
        basis="effective cost",
        owed=owed,
        charged=0 if shown else owed + carried,
        carried=carried,
        before=before,
        summary=draw(lines(owed, named)),
        changes=() if before is None else draw(changes(owed - before, named)),
        parts=tuple(shape.Part(by, draw(lines(owed, named))) for by in draw(some)),
        children=draw(st.just(()) | lines(owed, named)),
        workloads=tuple(draw(st.lists(work, max_size=3))),
        usage=tuple(draw(st.lists(use, max_size=3, unique_by=lambda one: one.pool))),
        budgets=tuple(
            draw(st.lists(st.builds(shape.Budget, st.just("month"), text, amounts, amounts, amounts), max_size=2))
        ),
        adjustments=tuple(
            draw(st.lists(st.builds(shape.Adjustment, given, named, text, amounts, named, text, text), max_size=2))
        ),
        corrections=tuple(
            draw(
                st.lists(
                    st.builds(shape.Correction, named, named, amounts, amounts, amounts, st.tuples(plain, plain)),
                    max_size=2,
                )
            )
        ),
        quantities=draw(st.just(()) | st.just((("gCO2e", "5120"), ("kWh", "-12.5")))),
        how=tuple(draw(st.lists(st.builds(shape.Rule, text, named, text, st.integers(0, 999)), max_size=2))),
        dispute=draw(text),
        preview=draw(st.none() | previews(owed, named)),
        moves=tuple(draw(st.lists(st.builds(shape.Move, sides, named, text, amounts, named, text), max_size=2)))
        or None,
    )


@st.composite
def previews(draw: st.DrawFn, owed: int, named: st.SearchStrategy[str]) -> shape.Preview:
    """By rules to come, or not known by them."""
    then = draw(maybe)
    charged, moved = (None, ()) if then is None else (draw(amounts), draw(changes(then - owed, named)))
    return shape.Preview(draw(named), "fedcba9876543210" * 4, "2026-12", then, charged, moved)


def written(amount: int, digits: int) -> str:
    """An amount as people read it, by whole numbers alone."""
    whole, rest = divmod(abs(amount), 10**digits)
    return ("\u2212" if amount < 0 else "") + f"{whole:,}" + (f".{rest:0{digits}d}" if digits else "")


def amounts_of(statement: shape.Statement) -> set[int]:
    """Every amount that a statement has to say. Of a part in which nothing has a name it says just that."""
    named = [part.lines for part in statement.parts if any(line.name.strip() for line in part.lines)]
    lists = (statement.summary, *named, statement.children)
    found = {statement.owed} | ({statement.charged} if statement.mode != "showback" else set())
    found |= {line.amount for lines in lists for line in lines}
    found |= {line.before for lines in lists for line in lines if line.before is not None}
    found |= {change.amount for change in statement.changes} | {work.amount for work in statement.workloads}
    found |= {use.amount for use in statement.usage}
    if statement.preview is not None and statement.preview.owed is not None:
        found |= {statement.preview.owed, *(change.amount for change in statement.preview.changes)}
    found |= {work.waste for work in statement.workloads if work.waste is not None}
    found |= {use.other_hours for use in statement.usage if use.other_hours}
    found |= {use.waste for use in statement.usage if use.waste is not None}
    found |= {figure for one in statement.budgets for figure in (one.amount, one.spent, one.left)}
    found |= {one.amount for one in statement.adjustments}
    found |= {one.amount for one in statement.moves or ()}
    return found | {figure for one in statement.corrections for figure in (one.was, one.now, one.amount)}
