"""Asking BigQuery through its own client. Values go as query parameters, names of tables are checked; what a query may cost is bounded."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from apportion.errors import ProjectError
from apportion.model.times import DAY_S, Interval
from apportion.sources.google.failures import failures
from apportion.sources.google.forms import TOPS
from apportion.sources.google.settings import How
from apportion.sources.outside.stores.opening import RETRIES, TIMEOUT_S, contents, endpoint
from apportion.sources.settings import Stanza

SCOPES = ("https://www.googleapis.com/auth/bigquery",)
MOST_BYTES = 200 * 10**9
PAGE_ROWS = 20_000
BEFORE_S = 31 * DAY_S  # no row of an invoice month was exported so long before it began
MONTH = "IFNULL(invoice.month, FORMAT_TIMESTAMP('%Y%m', usage_start_time))"


@dataclass(frozen=True, slots=True)
class Asked:
    """`library` is google.cloud.bigquery; `table` what BigQuery says of it; `manner` timeout and retry; `most` bounds the bytes billed for a query."""

    library: Any
    client: Any
    table: Any
    how: How
    manner: dict[str, Any]
    most: int
    page_rows: int

    def changed(self, since_s: int) -> dict[str, int]:
        """Invoice months with rows exported since then, and when the last of each was."""
        sql = f"SELECT {MONTH} AS month, MAX(export_time) AS newest FROM {self.named} WHERE export_time >= @since{self.cut} GROUP BY month"  # noqa: S608
        with failures(self.how):
            rows = list(self.query(sql, since=moment(since_s)))
        return {row["month"]: int(row["newest"].timestamp()) for row in rows if row["month"]}

    def save(self, month: Interval, file: Path) -> int:
        """The rows of an invoice month, page after page, as Parquet: how many."""
        columns = ", ".join(f"`{field.name}`" for field in self.table.schema if field.name in TOPS)
        sql = f"SELECT {columns} FROM {self.named} WHERE {MONTH} = @month AND export_time >= @since{self.cut}"  # noqa: S608
        number = moment(month.start_s).strftime("%Y%m")
        count = 0
        with failures(self.how):
            found = self.query(sql, month=number, since=moment(month.start_s - BEFORE_S))
            writer = None
            try:
                for batch in found.to_arrow_iterable():
                    writer = writer or pq.ParquetWriter(file, batch.schema, compression="lz4")
                    writer.write_batch(batch)
                    count += batch.num_rows
            finally:
                if writer:
                    writer.close()
        return count

    def look(self) -> tuple[int, int, bool]:
        """Rows, when the table last changed, and whether it names resources."""
        table = self.table
        return int(table.num_rows or 0), int(table.modified.timestamp()), has_resources(table)

    @property
    def named(self) -> str:
        return f"`{self.how.table.name}`"

    @property
    def cut(self) -> str:
        """Google's own tables are cut by the day of arrival, so that older days need not be read."""
        parted = self.table.time_partitioning
        return " AND _PARTITIONTIME >= TIMESTAMP_TRUNC(@since, DAY)" if parted and not parted.field else ""

    def query(self, sql: str, **values: str | datetime) -> Any:
        kinds = {str: "STRING", datetime: "TIMESTAMP"}
        parameters = [
            self.library.ScalarQueryParameter(name, kinds[type(value)], value) for name, value in values.items()
        ]
        settings = self.library.QueryJobConfig(query_parameters=parameters, maximum_bytes_billed=self.most)
        job = self.client.query(sql, job_config=settings, job_retry=None, **self.manner)
        return job.result(page_size=self.page_rows, job_retry=None, **self.manner)


def has_resources(table: Any) -> bool:
    return any(field.name == "resource" for field in table.schema)


def moment(second: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)


@contextmanager
def asking(how: How, found: Stanza, base: Path) -> Iterator[Asked]:
    library = client_library(how.where)
    from google.auth.transport import requests  # noqa: PLC0415
    from google.cloud.bigquery.retry import DEFAULT_RETRY  # noqa: PLC0415

    wire: Any = requests  # its functions have no types

    timeout, retries = found.number("timeout_s", TIMEOUT_S, 1, 3600), found.number("retries", RETRIES, 0, 20)
    url = endpoint(found)
    with failures(how):
        credentials = credentials_of(found, base)
        session = wire.AuthorizedSession(credentials)
        session.verify = found.text("ca_file", "") or True
        client = library.Client(
            project=how.table.payer,
            credentials=credentials,
            location=found.text("location", "") or None,
            client_options={"api_endpoint": url} if url else None,
            _http=session,
        )
    manner = {"timeout": timeout, "retry": DEFAULT_RETRY.with_timeout(timeout * retries) if retries else None}
    most = found.number("maximum_bytes_billed", MOST_BYTES, 1, 2**62)
    page_rows = found.number("page_rows", PAGE_ROWS, 1, 100_000)
    with closing(client):
        with failures(how):
            table = client.get_table(how.table.name, **manner)
        yield Asked(library, client, table, how, manner, most, page_rows)


def client_library(where: str) -> Any:
    try:
        from google.cloud import bigquery  # noqa: PLC0415 - an extra, and slow
    except ImportError as error:
        raise ProjectError(
            "google-missing",
            f"BigQuery is asked, and its Python client is not installed ({error})",
            where=where,
            hint='pip install "apportion[google]"',
        ) from error
    return bigquery


def credentials_of(found: Stanza, base: Path) -> Any:
    """Of the stanza's service account, else those that Google's own tools find."""
    import google.auth.credentials  # noqa: PLC0415
    from google.oauth2 import service_account  # noqa: PLC0415

    auth: Any = google.auth
    keys: Any = service_account
    if found.flag("anonymous"):
        return auth.credentials.AnonymousCredentials()
    file = found.text("service_account", "")
    if not file:
        return auth.default(SCOPES)[0]
    text = contents(found, "service_account", base / Path(file.removeprefix("file:")).expanduser())
    try:
        return keys.Credentials.from_service_account_info(json.loads(text), scopes=SCOPES)
    except (ValueError, KeyError, TypeError):  # its words may quote the key
        pass
    raise ProjectError(
        "invalid-setting",
        f"service_account {file} is no key of a service account",
        where=found.where,
        hint="make a new key (JSON) in the Google Cloud console",
    )
