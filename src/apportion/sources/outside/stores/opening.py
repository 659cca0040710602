"""A store by the settings of a stanza. Without credentials there, obstore looks where each cloud's own tools do: environment, workload identity, instance."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from obstore.store import AzureStore, GCSStore, ObjectStore, S3Store

from apportion.errors import ProjectError
from apportion.sources.outside.addresses import check_host
from apportion.sources.outside.secrets import secret
from apportion.sources.outside.stores.address import Address
from apportion.sources.settings import Stanza

OWN = {
    "s3": ("region", "access_key", "secret_key", "session_token", "requester_pays"),
    "gs": ("service_account",),
    "az": ("account", "account_key", "sas_token"),
}
STORE_SETTINGS = (
    "endpoint",
    *(key for keys in OWN.values() for key in keys),
    "anonymous",
    "ca_file",
    "timeout_s",
    "retries",
    "allow_link_local",
)
TIMEOUT_S, RETRIES = 60, 4
CONNECT_S = 20
WHOLE_DAY = timedelta(days=1)  # of one object: a stalled one is told by `timeout_s`


def opened(found: Stanza, address: Address, base: Path) -> ObjectStore:
    """Nothing is asked yet but the endpoint's name."""
    foreign = [key for scheme, keys in OWN.items() if scheme != address.scheme for key in keys if key in found.settings]
    if foreign:
        owner = next(scheme for scheme, keys in OWN.items() if foreign[0] in keys)
        raise ProjectError(
            "invalid-setting",
            f"{foreign[0]} is a setting of {owner}://, and the path begins with {address.scheme}://",
            where=found.where,
            hint="remove it, or correct the path",
        )
    try:
        return OPEN[address.scheme](found, address, base, manner(found))
    except (ValueError, TypeError):  # its words may quote a key
        pass
    raise ProjectError(
        "invalid-setting",
        f"{address.root} cannot be opened by these settings",
        where=found.where,
        hint="see endpoint, ca_file (PEM) and the credentials",
    )


def manner(found: Stanza) -> dict[str, Any]:
    """How patiently, how trustingly."""
    timeout = found.number("timeout_s", TIMEOUT_S, 1, 3600)
    client: dict[str, Any] = {
        "allow_http": endpoint(found).startswith("http://"),
        "connect_timeout": timedelta(seconds=min(timeout, CONNECT_S)),
        "read_timeout": timedelta(seconds=timeout),
        "timeout": WHOLE_DAY,
        "user_agent": "apportion",
    }
    if ca_file := found.text("ca_file", ""):
        client["root_certificate"] = contents(found, "ca_file", Path(ca_file))
    backoff = {"init_backoff": timedelta(seconds=0.2), "max_backoff": timedelta(seconds=20), "base": 2}
    retries = {"max_retries": found.number("retries", RETRIES, 0, 20), "backoff": backoff}
    return {"client_options": client, "retry_config": retries}


def endpoint(found: Stanza) -> str:
    url = found.text("endpoint", "")
    if not url:
        return ""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise found.refuse("endpoint", "an address such as https://minio.example:9000", "***")
    if parts.username or parts.password or parts.query:
        raise ProjectError(
            "secret-in-settings",
            "endpoint must not carry a user, password or signature",
            where=found.where,
            hint='write access_key = "env:NAME" and secret_key = "env:NAME", or sas_token = "env:NAME"',
        )
    check_host(parts.hostname, parts.port or 0, found.where, allowed=found.flag("allow_link_local"))
    return url.rstrip("/")


def open_s3(found: Stanza, address: Address, base: Path, how: dict[str, Any]) -> S3Store:
    del base
    keys = [secret(found, key) for key in ("access_key", "secret_key", "session_token")]
    if bool(keys[0]) != bool(keys[1]) or (keys[2] and not keys[0]):
        raise ProjectError(
            "missing-setting",
            "access_key and secret_key come together, with or without session_token",
            where=found.where,
            hint='access_key = "env:AWS_ACCESS_KEY_ID"; or none, where the environment or the instance has credentials',
        )
    if all(keys[:2]):  # given whole: keys here with a session token of the environment would be nobody's
        access, hidden, token = (key.reveal() if key else None for key in keys)
        known = {"access_key_id": access, "secret_access_key": hidden, "token": token, "expires_at": None}
        how |= {"credential_provider": lambda: known}
    if found.flag("requester_pays"):
        how |= {"request_payer": True}
    settings = {"endpoint": endpoint(found), "region": found.text("region", "")}
    how |= {key: value for key, value in settings.items() if value}
    return S3Store(address.bucket, skip_signature=found.flag("anonymous"), **how)


def open_gs(found: Stanza, address: Address, base: Path, how: dict[str, Any]) -> GCSStore:
    if file := found.text("service_account", ""):
        text = contents(found, "service_account", base / Path(file.removeprefix("file:")).expanduser())
        how |= {"service_account_key": text}
    if url := endpoint(found):
        how |= {"base_url": url}
    return GCSStore(address.bucket, skip_signature=found.flag("anonymous"), **how)


def open_az(found: Stanza, address: Address, base: Path, how: dict[str, Any]) -> AzureStore:
    del base
    key, token = secret(found, "account_key"), secret(found, "sas_token")
    if key:
        how |= {"credential_provider": lambda: {"access_key": key.reveal(), "expires_at": None}}
    elif token:
        how |= {"credential_provider": lambda: {"sas_token": token.reveal().lstrip("?"), "expires_at": None}}
    account = found.text("account", "") or address.account
    settings = {"endpoint": endpoint(found), "account_name": account}
    how |= {name: value for name, value in settings.items() if value}
    return AzureStore(address.bucket, skip_signature=found.flag("anonymous"), **how)


OPEN: dict[str, Callable[[Stanza, Address, Path, dict[str, Any]], ObjectStore]] = {
    "s3": open_s3,
    "gs": open_gs,
    "az": open_az,
}


def contents(found: Stanza, key: str, file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ProjectError("invalid-setting", f"{key} {file} cannot be read: {reason}", where=found.where) from None
