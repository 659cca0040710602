"""Object stores on loopback, each a program of its own: moto for S3, gcp-storage-emulator behind a small front for Google's, Azurite for Azure's.

`with s3_server() as cloud:` and its like give a bucket `bills`, the settings with which a stanza reads it, and `put` and `delete` for the test.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit
from urllib.request import Request, urlopen
from xml.sax.saxutils import escape

import pytest
from obstore.store import AzureStore, ObjectStore, S3Store

from tests import processes
from tests.loopback import answers, free_port, listening
from tests.processes import PATIENCE_S
from tests.servers import ROOT, has_node

BUCKET = "bills"
BIN = Path(sys.executable).parent
# Azurite's own account, the same in every installation: https://learn.microsoft.com/azure/storage/common/storage-use-azurite
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@dataclass(frozen=True)
class Cloud:
    """`settings` point to secrets in `environment`, which the test sets."""

    scheme: str
    url: str
    store: ObjectStore | None
    settings: Mapping[str, Any]
    environment: Mapping[str, str] = field(default_factory=dict)
    bucket: str = BUCKET

    def path(self, key: str) -> str:
        return f"{self.scheme}://{self.bucket}/{key}"

    def put(self, key: str, data: bytes) -> None:
        if self.store:
            self.store.put(key, data)
        else:
            where = f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={quote(key, safe='')}"
            ask(self.url, "POST", where, data, {"Content-Type": "application/octet-stream"})

    def delete(self, key: str) -> None:
        if self.store:
            self.store.delete(key)
        else:
            ask(self.url, "DELETE", f"/storage/v1/b/{BUCKET}/o/{quote(key, safe='')}")

    def fill(self, files: Mapping[str, bytes]) -> None:
        for key, data in files.items():
            self.put(key, data)


def ask(url: str, method: str, path: str, data: bytes | None = None, headers: Mapping[str, str] | None = None) -> bytes:
    with urlopen(Request(url + path, data, dict(headers or {}), method=method), timeout=PATIENCE_S) as answer:
        body: bytes = answer.read()
        return body


@contextmanager
def running(command: Sequence[str], port: int) -> Iterator[str]:
    """Its address, once it listens. Stopped with all that it started."""
    with TemporaryDirectory() as folder:
        process = processes.Process(command, cwd=folder, env={**os.environ, "HOME": folder})
        try:
            process.wait_until(lambda: answers(port), "it listens")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(10)
            except processes.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def s3_server() -> Iterator[Cloud]:
    port = free_port()
    with running([str(BIN / "moto_server"), "-H", "127.0.0.1", "-p", str(port)], port) as url:
        ask(url, "PUT", f"/{BUCKET}")
        known = {"access_key_id": "AKIDSTORES", "secret_access_key": "s3-very-secret"}
        store = S3Store(BUCKET, endpoint=url, region="us-east-1", client_options={"allow_http": True}, **known)  # type: ignore[arg-type]
        settings = {"endpoint": url, "region": "us-east-1", "access_key": "env:S3_KEY", "secret_key": "env:S3_SECRET"}
        secrets = {"S3_KEY": known["access_key_id"], "S3_SECRET": known["secret_access_key"]}
        yield Cloud("s3", url, store, settings, secrets)


@contextmanager
def gcs_server(page: int = 2) -> Iterator[Cloud]:
    """The emulator speaks Google's JSON API alone, and obstore the XML API: a front puts the one into the words of the other, `page` names a page."""
    port = free_port()
    command = [str(BIN / "gcp-storage-emulator"), "start", "--host=127.0.0.1", f"--port={port}", "--in-memory"]
    with running(command, port) as behind:
        name = json.dumps({"name": BUCKET}).encode()
        ask(behind, "POST", "/storage/v1/b?project=it", name, {"Content-Type": "application/json"})
        with listening(type("FrontOfOne", (Front,), {"port": port, "page": page})) as url:
            yield Cloud("gs", behind, None, {"endpoint": url, "anonymous": True})


class Front(BaseHTTPRequestHandler):
    """GET of a bucket (a listing) and GET and HEAD of an object, as https://cloud.google.com/storage/docs/xml-api/overview has them."""

    port = 0
    page = 0

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        return

    def behind(self, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, Mapping[str, str], bytes]:
        link = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            link.request("GET", path, headers=dict(headers or {}))
            answer = link.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            link.close()

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        bucket, _, key = parts.path.lstrip("/").partition("/")
        if key:
            self.object(bucket, unquote(key))
        else:
            self.listing(bucket, {name: values[0] for name, values in parse_qs(parts.query).items()})

    do_HEAD = do_GET  # noqa: N815 - the library's name

    def listing(self, bucket: str, asked: dict[str, str]) -> None:
        status, _, body = self.behind(f"/storage/v1/b/{bucket}/o?prefix={quote(asked.get('prefix', ''))}")
        if status != 200:
            self.send(status, b"<Error><Code>NoSuchBucket</Code></Error>")
            return
        items = sorted(json.loads(body).get("items") or [], key=lambda item: str(item["name"]))
        first = int(asked.get("continuation-token", "0"))
        more = first + self.page < len(items)
        token = f"<NextContinuationToken>{first + self.page}</NextContinuationToken>" if more else ""
        contents = "".join(
            f"<Contents><Key>{escape(item['name'])}</Key><LastModified>{item['updated']}</LastModified>"
            f"<ETag>{etag_of(item)}</ETag><Size>{item['size']}</Size></Contents>"
            for item in items[first : first + self.page]
        )
        flag = str(more).lower()
        text = f"<ListBucketResult><IsTruncated>{flag}</IsTruncated>{token}{contents}</ListBucketResult>"
        self.send(200, f"<?xml version='1.0' encoding='UTF-8'?>{text}".encode())

    def object(self, bucket: str, key: str) -> None:
        status, _, body = self.behind(f"/storage/v1/b/{bucket}/o/{quote(key, safe='')}")
        if status != 200:
            self.send(404, b"<Error><Code>NoSuchKey</Code></Error>")
            return
        meta = json.loads(body)
        if self.headers.get("If-Match") not in (None, etag_of(meta)):
            self.send(412, b"<Error><Code>PreconditionFailed</Code></Error>")
            return
        ranged = {"Range": self.headers["Range"]} if "Range" in self.headers else {}
        status, headers, data = self.behind(f"/{bucket}/{quote(key)}", ranged)
        kept = {name: headers[name] for name in ("Content-Range", "x-goog-hash") if name in headers}
        self.send(status, data, {**kept, "ETag": etag_of(meta), "Last-Modified": formatdate(usegmt=True)})

    def send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def etag_of(meta: Mapping[str, Any]) -> str:
    """The XML API gives the MD5 in hexadecimal digits."""
    return f'"{base64.b64decode(meta["md5Hash"]).hex()}"'


@contextmanager
def azurite() -> Iterator[Cloud]:
    if not has_node("azurite"):
        pytest.skip("no Azurite: install nodejs and npm, then run `python tests/servers.py`")
    port = free_port()
    program = str(ROOT / ".servers/azurite/node_modules/.bin/azurite-blob")
    options = ["--skipApiVersionCheck", "--disableTelemetry", "--inMemoryPersistence", "--silent"]
    with running([program, "--blobHost", "127.0.0.1", "--blobPort", str(port), *options], port) as url:
        make_container(url, BUCKET)
        endpoint = f"{url}/{ACCOUNT}"
        known = {"account_name": ACCOUNT, "account_key": ACCOUNT_KEY, "endpoint": endpoint}
        store = AzureStore(BUCKET, client_options={"allow_http": True}, **known)  # type: ignore[arg-type]
        settings = {"endpoint": endpoint, "account": ACCOUNT, "account_key": "env:AZURE_TEST_KEY"}
        yield Cloud("az", url, store, settings, {"AZURE_TEST_KEY": ACCOUNT_KEY})


def make_container(url: str, name: str) -> None:
    """Signed by hand, since obstore makes none: https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key"""
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-12-02", "Content-Type": "text/plain"}
    fields = "".join(f"{key}:{headers[key]}\n" for key in ("x-ms-date", "x-ms-version"))
    signed = f"PUT\n\n\n\n\ntext/plain\n\n\n\n\n\n\n{fields}/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
    digest = hmac.new(base64.b64decode(ACCOUNT_KEY), signed.encode(), hashlib.sha256).digest()
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
    ask(url, "PUT", f"/{ACCOUNT}/{name}?restype=container", b"", headers)
