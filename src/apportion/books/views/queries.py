"""Each view as a query over the record's tables, or over a view before it."""

from apportion.books.chain import TOKENS
from apportion.books.ledger import CONTRA
from apportion.books.shapes import CLOSE, PLAN
from apportion.books.views.dialects import Words
from apportion.books.views.shapes import APPROX, MONEY, VIEWS
from apportion.model.currencies import QUANTITIES
from apportion.model.rows import IDLE, MINOR_KEY, SYSTEM_OWNERS

COLUMNS = {view.name: [column.name for column in view.columns] for view in VIEWS}
KEYS = {  # what a view of sums is added up by
    view.name: [
        column.name for column in view.columns if column.kind not in (MONEY, APPROX) and column.name != "postings"
    ]
    for view in VIEWS
}
ONCE = {"amount": "1"}
ABOUT = "COALESCE(NULLIF(r.about, ''), r.period)"
KIND = f"COALESCE(NULLIF(r.kind, ''), '{PLAN}')"
IS_MONEY = f"currency NOT IN ({', '.join(repr(unit) for unit in QUANTITIES)})"
OWNER_KIND = " ".join(
    ("CASE e.team", *(f"WHEN '{owner}' THEN '{owner[1:]}'" for owner in SYSTEM_OWNERS), "ELSE 'team' END")
)


def queries(words: Words) -> dict[str, str]:
    """By the name of the view, in the order in which they can be made."""
    every = "SELECT * FROM apportion_postings"
    made = {
        "apportion_postings": postings(words),
        "apportion_daily": words.grouped(every, KEYS["apportion_daily"], ONCE),
        "apportion_amounts": amounts(words),
        "apportion_idle": words.grouped(
            f"{every} WHERE reason = 'idle' OR team = '{IDLE}'", KEYS["apportion_idle"], ONCE
        ),
        "apportion_bills": bills(words),
        "apportion_owners": owners(),
        "apportion_budgets": budgets(words),
        "apportion_periods": periods(words),
        "apportion_statements": statements(words),
        "apportion_runs": runs(words),
        "apportion_evidence": evidence(words),
        "apportion_users": "SELECT period AS about_period, token AS user_token, name FROM names",
    }
    return {name: f"SELECT {', '.join(columns)} FROM ({made[name]}) AS made" for name, columns in COLUMNS.items()}


def month(words: Words, period: str) -> str:
    return words.date(f"{period} || '-01'") + " AS month"


def postings(words: Words) -> str:
    """Users as pseudonyms: what somebody's tool copies today must hold no name that is erased tomorrow."""
    own = (
        "period",
        "bill",
        "currency",
        "component",
        "pool",
        "reason",
        "cause",
        "cost_centre",
        "department",
        "team",
        "project",
        "amount",
    )
    return f"""
        SELECT e.seq AS posting, {", ".join(f"e.{name}" for name in own)}, {month(words, "e.period")}, {ABOUT} AS about_period,
            {words.date("NULLIF(e.day, '')")} AS day, {words.flag(f"e.{IS_MONEY}")} AS is_money,
            CASE WHEN r.rule = '{TOKENS}' OR e."user" = '' THEN e."user" ELSE '(named)' END AS user_token,
            {OWNER_KIND} AS owner_kind, {words.approx("e.amount")} AS amount_approx, r.run_id AS run, {KIND} AS kind,
            {words.moment("r.posted_s")} AS posted_at
        FROM entries e JOIN runs r ON r.run_id = e.run_id
        WHERE e.account NOT LIKE '{CONTRA}%'"""


def amounts(words: Words) -> str:
    """The minor units that are kept with the ledger, in units of their currency."""
    named = [column for column in COLUMNS["apportion_amounts"] if column in MINOR_KEY]
    owner_kind = OWNER_KIND.replace("e.team", "m.team")
    return f"""
        SELECT s.*, {words.approx("amount")} AS amount_approx FROM (
            SELECT m.period, {", ".join(f"m.{name}" for name in named)}, {month(words, "m.period")}, {words.flag(f"m.{IS_MONEY}")} AS is_money,
                CASE WHEN m."user" = '' OR m."user" LIKE 'user-%' THEN m."user" ELSE '(named)' END AS user_token,
                {owner_kind} AS owner_kind, {words.major("m.amount", "m.currency")} AS amount
            FROM minor_units m) AS s"""


def bills(words: Words) -> str:
    """A plan says what its bills come to, so the last one of a month counts; a correction says by how much they change."""
    last = f"SELECT MAX(l.seq) FROM runs l WHERE l.period = r.period AND l.kind IN ('', '{PLAN}')"
    rows = f"""
        SELECT r.period, d.bill, d.currency, d.amount, 1 AS counted FROM bill_days d JOIN runs r ON r.run_id = d.run_id
        WHERE r.kind NOT IN ('', '{PLAN}') OR r.seq = ({last})
        UNION ALL SELECT period, bill, currency, amount, 0 FROM apportion_postings"""
    sums = {"total": "counted", "posted": "(1 - counted)", "difference": "(2 * counted - 1)"}
    found = words.grouped(rows, ["period", "bill", "currency"], sums)
    return f"""
        SELECT s.*, {month(words, "period")}, {words.issuer("bill")} AS issuer, {words.last_word("bill")} AS bill_currency,
            {words.flag(IS_MONEY)} AS is_money
        FROM ({found}) AS s"""


def owners() -> str:
    keys = "period, month, cost_centre, department, team, project, owner_kind"
    return f"""
        SELECT {keys}, MIN(day) AS first_day, MAX(day) AS last_day, COUNT(*) AS postings
        FROM apportion_postings GROUP BY {keys}"""


def budgets(words: Words) -> str:
    """Of those that a team or project has, the one that begins last holds; of one month, the one that was set last. 0 ends it."""
    later = """
        SELECT 1 FROM budgets n WHERE n.team = b.team AND n.project = b.project AND n.since <= p.period
        AND (n.since > b.since OR (n.since = b.since AND n.seq > b.seq))"""
    holding = f"""
        SELECT p.period, b.team, b.project, b.currency, b.since, b.amount
        FROM (SELECT DISTINCT period FROM runs) AS p JOIN budgets b ON b.since <= p.period
        WHERE {words.approx("b.amount")} > 0 AND NOT EXISTS ({later})"""
    rows = f"""
        SELECT h.*, 1 AS planned FROM ({holding}) AS h
        UNION ALL SELECT h.period, h.team, h.project, h.currency, h.since, e.amount, 0 FROM ({holding}) AS h JOIN apportion_amounts e
        ON e.period = h.period AND e.team = h.team AND e.currency = h.currency AND (h.project = '' OR e.project = h.project)"""
    sums = {"budget": "planned", "spent": "(1 - planned)", "remaining": "(2 * planned - 1)"}
    found = words.grouped(rows, ["period", "team", "project", "currency", "since"], sums)
    return f"SELECT s.*, {month(words, 'period')} FROM ({found}) AS s"


def periods(words: Words) -> str:
    """By its last run, which of a closed month is the close."""
    known = "SELECT period, COUNT(*) AS runs, MAX(seq) AS last FROM runs GROUP BY period"
    return f"""
        SELECT k.period, {month(words, "k.period")}, COALESCE(p.status, 'open') AS status,
            CASE WHEN r.kind = '{CLOSE}' THEN {words.moment("r.posted_s")} END AS closed_at, k.runs,
            {words.moment("r.posted_s")} AS last_posted_at, r.policy_version, r.head_after AS head
        FROM ({known}) AS k JOIN runs r ON r.seq = k.last LEFT JOIN periods p ON p.period = k.period"""


def statements(words: Words) -> str:
    charged = words.major("d.amount", "d.currency")
    return f"""
        SELECT s.*, {words.approx("charged")} AS charged_approx FROM (
            SELECT d.period, {month(words, "d.period")}, d.level, d.owner, d.currency, d.number, d.label AS invoice, {charged} AS charged,
                d.sha256, {words.moment("r.posted_s")} AS closed_at
            FROM documents d JOIN closes c ON c.period = d.period JOIN runs r ON r.run_id = c.run_id) AS s"""


def runs(words: Words) -> str:
    return f"""
        SELECT r.run_id AS run, r.period, {month(words, "r.period")}, {KIND} AS kind, {ABOUT} AS about_period, r.policy_version, r.plan_digest,
            r.engine, r.entries, r.head_after AS head, {words.moment("r.posted_s")} AS posted_at
        FROM runs r"""


def evidence(words: Words) -> str:
    """What the record names, since Iceberg's own pointer may be ahead of it."""
    return f"""
        SELECT p."table" AS table_name, p.snapshot_id, s."rows" AS row_count, {words.moment("s.published_s")} AS published_at,
            m.value || '/' || p.metadata AS metadata
        FROM published p JOIN snapshots s ON s."table" = p."table" AND s.snapshot_id = p.snapshot_id JOIN meta m ON m.key = 'warehouse'"""
