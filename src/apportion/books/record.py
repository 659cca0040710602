"""The record's tables in SQL, the same on SQLite and PostgreSQL."""

from decimal import Decimal
from typing import Any

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Numeric,
    Table,
    Text,
    event,
)
from sqlalchemy.schema import ExecutableDDLElement
from sqlalchemy.types import TypeDecorator, TypeEngine

from apportion.model.money import DIGITS, PLACES, plain
from apportion.model.rows import MINOR_KEY, POSTING_KEY


class Exact(TypeDecorator[Decimal]):
    """Money without a float in sight: NUMERIC(38,18), or canonical decimal text where the database has only binary floats."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else Numeric(DIGITS, PLACES))

    def process_bind_param(self, value: Decimal | str | None, dialect: Dialect) -> Any:
        """Text is taken as the canonical digits that it is."""
        return plain(value) if isinstance(value, Decimal) and dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> Decimal | None:  # noqa: ARG002 - SQLAlchemy's signature
        return None if value is None else Decimal(value)


record = MetaData()
Seq = BigInteger().with_variant(Integer, "sqlite")


def text(name: str, *, key: bool = False) -> "Column[str]":
    return Column(name, Text, nullable=False, primary_key=key)


def later(name: str) -> "Column[str]":
    """A column that books made earlier lack: empty in their rows."""
    return Column(name, Text, nullable=False, server_default="")


def whole(name: str, *, key: bool = False) -> "Column[int]":
    return Column(name, BigInteger, nullable=False, primary_key=key)


meta = Table("meta", record, text("key", key=True), text("value"))

# What was agreed, planned and posted.
policies = Table(
    "policies", record,
    Column("seq", Seq, primary_key=True), Column("version", Text, nullable=False, unique=True),
    text("name"), text("file"), text("effective"), text("text"), text("sha256"), whole("saved_s"),
)  # fmt: skip
plans = Table(
    "plans", record,
    Column("seq", Seq, primary_key=True), text("digest"), text("period"), text("policy_version"), text("inputs"), text("head"), text("summary"),
    Column("postings", LargeBinary, nullable=False), Column("bill_days", LargeBinary, nullable=False), text("sha256"), whole("saved_s"),
)  # fmt: skip
runs = Table(
    "runs", record,
    whole("seq", key=True), Column("run_id", Text, nullable=False, unique=True), text("period"), text("plan_digest"), text("policy_version"),
    text("policy_sha256"), text("inputs"), text("evidence"), text("engine"), text("bill_days_sha256"), text("content_sha256"),
    whole("entries"), whole("last_seq"), text("head_before"), text("head_after"), whole("posted_s"), text("hash"),
    later("rule"), later("kind"), later("about"), later("cause"), later("rests_on"),
)  # fmt: skip
bill_days = Table(
    "bill_days", record,
    text("run_id", key=True), text("bill", key=True), text("currency", key=True), text("component", key=True), text("day", key=True),
    Column("amount", Exact, nullable=False),
)  # fmt: skip
entries = Table(
    "entries", record,
    whole("seq", key=True), text("run_id"), text("account"), *(text(name) for name in POSTING_KEY),
    Column("amount", Exact, nullable=False), text("hash"),
    Index("entries_period", "period"), Index("entries_run", "run_id"),
)  # fmt: skip
periods = Table("periods", record, text("period", key=True), text("status"))
closes = Table(
    "closes", record,
    text("period", key=True), Column("run_id", Text, nullable=False, unique=True), text("checks"),
    Column("minor", LargeBinary, nullable=False),
)  # fmt: skip
minor_units = Table(  # what each period comes to: made anew by each of its runs, frozen by its close
    "minor_units", record,
    text("period"), *(text(name) for name in MINOR_KEY), whole("amount"), Index("minor_units_period", "period"),
)  # fmt: skip
minor_heads = Table("minor_heads", record, text("period", key=True), text("head"))  # the ledger's when they were made
documents = Table(
    "documents", record,
    text("period", key=True), text("level", key=True), text("owner", key=True), text("currency", key=True),
    whole("number"), text("label"), whole("amount"), text("sha256"), Column("body", LargeBinary, nullable=False),
)  # fmt: skip
previews = Table("previews", record, text("period", key=True), text("version"), text("text"))
transfers = Table(
    "transfers", record,
    text("run_id", key=True), text("owner"), text("other"), text("currency"), Column("amount", Exact, nullable=False), text("why"),
    text("approver"), text("reference"), whole("dispute"), later("extent"), later("bill"), later("pool"), later("follows"),
)  # fmt: skip
disputes = Table(
    "disputes", record,
    whole("number", key=True), text("period"), text("kind"), text("name"), text("key"), text("owner"), text("currency"),
    Column("amount", Exact, nullable=False), Column("part", Boolean, nullable=False), text("evidence"), text("head"),
)  # fmt: skip
dispute_notes = Table(
    "dispute_notes", record,
    whole("id", key=True), whole("dispute"), whole("at_s"), text("who"), text("status"), text("text"), text("run_id"),
)  # fmt: skip
# Whose the tokens of a month are; names that were erased, and what became of the files that held them.
names = Table(
    "names",
    record,
    text("period", key=True),
    text("token", key=True),
    text("name"),
    text("key"),
    Index("names_name", "name"),
)
erasures = Table("erasures", record, whole("number", key=True), text("before"), text("token"))
rewritten = Table(
    "rewritten", record,
    whole("erasure", key=True), text("path", key=True), text("table"), text("sha256"), whole("rows"), text("control"), text("content"),
    text("was_path"), text("was_sha256"), whole("was_rows"), text("was_control"), text("was_content"),
)  # fmt: skip
# Who comes in by the pages and the API: nothing that opens a door lies here as it is, only its hash.
sessions = Table(
    "sessions", record,
    text("sha256", key=True), text("name"), text("role"), text("teams"), text("by"), whole("made_s"), whole("until_s"),
)  # fmt: skip
tickets = Table(
    "tickets",
    record,
    text("sha256", key=True),
    text("kind"),
    text("value"),
    whole("until_s"),
)  # one-time links, logins under way
logins = Table(
    "logins", record, text("name", key=True), text("role"), text("teams"), text("by"), whole("first_s"), whole("last_s"),
)  # fmt: skip
tokens = Table(
    "tokens", record,
    text("id", key=True), Column("sha256", Text, nullable=False, unique=True), text("label"), text("owner"), text("role"), text("teams"),
    text("deeds"), whole("made_s"), whole("until_s"), whole("used_s"), whole("revoked_s"),
)  # fmt: skip
# What people set, propose and ask to be told of.
budgets = Table(
    "budgets", record,
    Column("seq", Seq, primary_key=True), text("team"), text("project"), text("since"), text("currency"), Column("amount", Exact, nullable=False),
    text("why"), text("who"), whole("at_s"),
)  # fmt: skip
pledges = Table(
    "pledges", record,
    Column("seq", Seq, primary_key=True), whole("about"), text("kind"), text("team"), text("project"), text("user"), text("other"), text("what"),
    text("pool"), text("unit"), Column("amount", Exact, nullable=False), text("per"), text("first"), text("job"), whole("until_s"), text("why"),
    text("approver"), text("who"), whole("at_s"), Index("pledges_about", "about"),
)  # fmt: skip
proposals = Table(
    "proposals", record,
    whole("number", key=True), text("base"), text("text"), text("why"), text("who"), whole("at_s"), text("status"), text("ended_by"), whole("ended_s"),
)  # fmt: skip
whatifs = Table(
    "whatifs", record,
    text("id", key=True), Column("name", Text, nullable=False, unique=True), text("months"), text("head"), text("asked"), text("result"),
    text("who"), whole("at_s"),
)  # fmt: skip
pushes = Table(
    "pushes", record, text("who", key=True), text("key", key=True), text("sha256"), text("answer"), whole("at_s"),
)  # fmt: skip
hooks = Table(
    "hooks", record,
    text("id", key=True), text("url"), text("secret"), text("events"), text("teams"), text("who"), whole("made_s"), whole("ended_s"),
)  # fmt: skip
tellings = Table(
    "tellings", record,
    Column("seq", Seq, primary_key=True), text("hook"), text("event"), text("about"), text("body"), whole("made_s"), whole("due_s"),
    whole("tries"), whole("done_s"), text("answer"), Index("tellings_due", "done_s", "due_s"),
)  # fmt: skip
audit = Table(
    "audit", record,
    Column("id", Seq, primary_key=True), whole("at_s"), text("who"), text("what"), text("detail"), later("why"), later("head"), later("hash"),
)  # fmt: skip

# What was delivered.
sources = Table("sources", record, text("name", key=True), text("role"))
scopes = Table(
    "scopes", record,
    Column("id", Seq, primary_key=True), text("source"), text("issuer"), text("accounts"), text("services"),
    whole("start_s"), whole("end_s"), text("metric"), text("role"),
)  # fmt: skip
deliveries = Table(
    "deliveries", record,
    whole("seq", key=True), Column("delivery_id", Text, nullable=False, unique=True), text("source"), whole("start_s"), whole("end_s"),
    text("tables"), text("digest"), text("rows"), text("replaced"), whole("quarantined"), whole("received_s"),
    Column("superseded_by", Text, nullable=True), later("equal_rows"), Index("deliveries_source", "source"),
)  # fmt: skip
delivered_files = Table(
    "delivered_files", record,
    Column("id", Seq, primary_key=True), text("delivery_id"), text("name"), text("sha256"), whole("rows"), text("control"),
)  # fmt: skip
problems = Table(
    "problems", record,
    Column("id", Seq, primary_key=True), text("delivery_id"), text("source"), text("where"), text("code"), text("message"), text("row"),
    text("money"), later("quantity"), later("meter"), later("at"),
)  # fmt: skip
quarantine = Table(
    "quarantine", record,
    Column("id", Seq, primary_key=True), text("delivery_id"), text("source"), text("table"), text("key"), text("content"),
)  # fmt: skip

# Which files and snapshots of the evidence count. `path` is relative to the warehouse.
published = Table("published", record, text("table", key=True), whole("snapshot_id"), text("metadata"))
snapshots = Table(
    "snapshots", record,
    text("table", key=True), whole("snapshot_id", key=True), whole("rows"), text("digest"), text("made_by"), whole("published_s"),
)  # fmt: skip
files = Table(
    "files", record,
    text("path", key=True), text("table"), text("kind"), text("sha256"), whole("bytes"), whole("rows"), text("control"), text("content"),
    text("part"), whole("start_s"), whole("end_s"), text("made_by"), Column("live", Boolean, nullable=False),
    Index("files_part", "table", "part", "live"),
)  # fmt: skip

# The chain proves that nobody changed a posting; these make it hard to do by mistake.
APPEND_ONLY = (
    entries,
    runs,
    bill_days,
    closes,
    documents,
    previews,
    transfers,
    disputes,
    dispute_notes,
    budgets,
    pledges,
    audit,
    erasures,
    rewritten,
)
REFUSE_ON_POSTGRES = """
CREATE OR REPLACE FUNCTION apportion_append_only() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$
"""
REFUSAL = {
    "sqlite": "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
    "postgresql": "FOR EACH STATEMENT EXECUTE FUNCTION apportion_append_only()",
}


def run_on(dialect: str, statement: str) -> ExecutableDDLElement:
    ddl: ExecutableDDLElement = DDL(statement).execute_if(dialect=dialect)  # type: ignore[no-untyped-call]
    return ddl


def guards(table: Table, dialect: str) -> list[str]:
    """Triggers that refuse any change of a row."""
    return [
        f"CREATE TRIGGER {table.name}_no_{action.lower()} BEFORE {action} ON {table.name} {REFUSAL[dialect]}"
        for action in ("UPDATE", "DELETE")
    ]


event.listen(record, "before_create", run_on("postgresql", REFUSE_ON_POSTGRES))
for table in APPEND_ONLY:
    for dialect in REFUSAL:
        for trigger in guards(table, dialect):
            event.listen(table, "after_create", run_on(dialect, trigger))
