"""What tasks bring about, as Airflow's assets: other DAGs are scheduled by them. One connection is one project, and its id names them."""

from urllib.parse import quote

from airflow.sdk import Asset

from apportion.integrations.airflow.provider import DEFAULT_CONNECTION, SCHEME


def ledger(apportion_conn_id: str = DEFAULT_CONNECTION) -> Asset:
    """Something may have been posted; the event's `extra` says what."""
    return Asset(uri=f"{SCHEME}://{quote(apportion_conn_id, safe='')}/ledger")


def closed_months(apportion_conn_id: str = DEFAULT_CONNECTION) -> Asset:
    """A month was closed: its statements, journal and FOCUS export are final."""
    return Asset(uri=f"{SCHEME}://{quote(apportion_conn_id, safe='')}/closed-months")
