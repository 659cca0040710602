"""What Airflow asks every provider for, by the entry point `apache_airflow_provider`."""

from typing import Any

from apportion import __version__

NAME = "Apportion"
SCHEME = CONNECTION_TYPE = "apportion"
DEFAULT_CONNECTION = "apportion_default"
HERE = "apportion.integrations.airflow"


def get_provider_info() -> dict[str, Any]:
    def modules(name: str) -> list[dict[str, Any]]:
        return [{"integration-name": NAME, "python-modules": [f"{HERE}.{name}"]}]

    return {
        "package-name": "apportion",
        "name": NAME,
        "description": "Who owes what for shared ML training infrastructure: operators that ingest, plan, apply, close and state, and a sensor for whole data.",
        "versions": [__version__],
        "integrations": [{"integration-name": NAME, "tags": ["software"]}],
        "operators": modules("operators"),
        "sensors": modules("sensors"),
        "hooks": modules("hooks"),
        "asset-uris": [{"schemes": [SCHEME], "handler": None}],
        "connection-types": [
            {
                "connection-type": CONNECTION_TYPE,
                "hook-class-name": f"{HERE}.hooks.ApportionHook",
                "hook-name": NAME,
                "ui-field-behaviour": {
                    "hidden-fields": ["schema", "login", "port"],
                    "relabeling": {"host": "Server (for reading by the API)", "password": "Token of the server"},
                    "placeholders": {
                        "host": "https://apportion.example",
                        "extra": '{"project": "/srv/apportion", "environment": {"PGPASSWORD": "..."}}',
                    },
                },
            }
        ],
    }
