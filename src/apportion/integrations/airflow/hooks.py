"""The connection: where a project lies for tasks that work on it, or a server for those that only read."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseHook

from apportion.errors import ProjectError
from apportion.integrations.airflow.provider import CONNECTION_TYPE, DEFAULT_CONNECTION, NAME, get_provider_info

if TYPE_CHECKING:
    from collections.abc import Mapping

    from apportion.client.client import Client

KEYS = ("project", "python", "environment")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the work is done: a project's folder, the interpreter of another environment if any, and variables for the work alone."""

    project: str | None = None
    python: str | None = None
    environment: "Mapping[str, str]" = field(default_factory=dict, repr=False)


class ApportionHook(BaseHook):
    conn_name_attr = "apportion_conn_id"
    default_conn_name = DEFAULT_CONNECTION
    conn_type = CONNECTION_TYPE
    hook_name = NAME

    def __init__(self, apportion_conn_id: str = DEFAULT_CONNECTION) -> None:
        super().__init__()
        self.apportion_conn_id = apportion_conn_id

    def place(self) -> Place:
        """From the connection's extra."""
        extra: dict[str, Any] = self.get_connection(self.apportion_conn_id).extra_dejson
        unknown = sorted(extra.keys() - set(KEYS))
        if unknown or not extra.get("project"):
            what = f"does not know {unknown[0]!r}" if unknown else "names no project"
            raise ProjectError(
                "invalid-setting",
                f"the extra of connection {self.apportion_conn_id} {what}",
                hint=f'write {{"project": "/srv/apportion"}}; it may have {", ".join(KEYS)}',
            )
        environment = {str(name): str(value) for name, value in (extra.get("environment") or {}).items()}
        return Place(str(extra["project"]), extra.get("python") or None, environment)

    def get_conn(self) -> "Client":
        """A client of the server that the connection names, for reading."""
        from apportion.client.client import Client

        connection = self.get_connection(self.apportion_conn_id)
        if not connection.host:
            raise ProjectError(
                "invalid-setting",
                f"connection {self.apportion_conn_id} names no server",
                hint="set its host to the server's address, and its password to a token",
            )
        address = connection.host if "://" in connection.host else f"https://{connection.host}"
        return Client(address, connection.password or "")

    @classmethod
    def get_ui_field_behaviour(cls) -> dict[str, Any]:
        (kind,) = get_provider_info()["connection-types"]
        shown = kind["ui-field-behaviour"]
        return {name.replace("-", "_"): value for name, value in shown.items()}
