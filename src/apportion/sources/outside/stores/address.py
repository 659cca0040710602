"""What a path in an object store names: `s3://bucket/...`, `gs://bucket/...`, `az://container/...`, or Azure's own two ways to write it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import unquote, urlsplit

from apportion.errors import ProjectError
from apportion.sources.settings import nearest

SCHEMES = {"s3": "s3", "s3a": "s3", "gs": "gs", "az": "az", "abfs": "az", "abfss": "az", "https": "az"}
FORMS = "s3://bucket/..., gs://bucket/... or az://container/..."
BUCKET = re.compile(r"[A-Za-z0-9$][A-Za-z0-9._-]*")
AZURE_HOST = re.compile(r"([a-z0-9-]+)\.(?:blob|dfs)\.core\.windows\.net")
GLOB = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Address:
    """`key` is one object, a prefix or a glob; `account` is what the path itself says of Azure's."""

    scheme: str
    bucket: str
    key: str
    account: str = ""

    @property
    def root(self) -> str:
        return f"{self.scheme}://{self.bucket}/"

    def name(self, key: str) -> str:
        """One way to write each object, so that messages and digests are the same however the path is written."""
        return self.root + key

    @property
    def is_glob(self) -> bool:
        return bool(GLOB & set(self.key))

    @property
    def prefix(self) -> str:
        """The folders that no wildcard stands in: what has to be listed."""
        parts = self.key.split("/")
        first = next((number for number, part in enumerate(parts) if GLOB & set(part)), len(parts))
        return "/".join(parts[:first])


def is_remote(path: str) -> bool:
    return "://" in path


def address(path: str, where: str) -> Address:
    scheme, _, rest = path.partition("://")
    if scheme not in SCHEMES:
        raise refused(f"there is no store {scheme}://", where, nearest(scheme, ("s3", "gs", "az")))
    if scheme == "https":
        return web_address(path, where)
    host, _, key = rest.partition("/")
    account = ""
    if scheme.startswith("abfs") and "@" in host:
        host, _, server = host.partition("@")
        account = account_of(server, where)
    if "@" in host or ":" in host:
        raise secret_in_path(where)
    return checked(Address(SCHEMES[scheme], host, key, account), where)


def web_address(path: str, where: str) -> Address:
    """As the portal shows it: `https://ACCOUNT.blob.core.windows.net/container/...`."""
    parts = urlsplit(path)
    if parts.query or "@" in parts.netloc:
        raise secret_in_path(where)
    container, _, key = unquote(parts.path).lstrip("/").partition("/")
    return checked(Address("az", container, key, account_of(parts.netloc, where)), where)


def account_of(server: str, where: str) -> str:
    found = AZURE_HOST.fullmatch(server)
    if not found:
        raise refused(
            f"{server} is no storage account of Azure", where, f"write {FORMS}, with endpoint for other servers"
        )
    return found[1]


def checked(found: Address, where: str) -> Address:
    if not BUCKET.fullmatch(found.bucket):
        raise refused(f"the path names no bucket or container, but {found.bucket!r}", where, f"write {FORMS}")
    parts = found.key.removesuffix("/").split("/") if found.key else []
    if any(part in ("", ".", "..") for part in parts):
        raise refused(f"{found.root}{found.key} has an empty part", where, "write one / between the parts of the path")
    return found


def matches(key: str, pattern: str) -> bool:
    """`*` stays within a part, `**` is any number of parts, as among files."""
    return fits(key.split("/"), pattern.split("/"))


def fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        least = 1 if len(pattern) == 1 else 0
        return any(fits(parts[number:], pattern[1:]) for number in range(least, len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and fits(parts[1:], pattern[1:])


def refused(message: str, where: str, hint: str) -> ProjectError:
    return ProjectError("invalid-setting", message, where=where, hint=hint)


def secret_in_path(where: str) -> ProjectError:
    return ProjectError(  # what stands there may be the secret itself, so it is not quoted
        "secret-in-settings",
        "path must not carry a user, password or signature",
        where=where,
        hint='write the address alone, and beside it sas_token = "env:NAME" or access_key and secret_key',
    )
