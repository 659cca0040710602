"""Objects of a store: listed, chosen by name, and fetched whole and unchanged or not at all.

obstore asks again, with growing pauses, what may pass, and goes on where a body broke off. Here it is seen to that what came is what was listed: the same
ETag, the same size, and the same MD5 where the ETag is one.
"""

import hashlib
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

from obstore.store import ObjectStore

from apportion.errors import InputError
from apportion.sources.outside.stores.address import Address, address, matches
from apportion.sources.outside.stores.failures import RAISED, absent, changed, failure
from apportion.sources.outside.stores.opening import opened
from apportion.sources.settings import Stanza

if TYPE_CHECKING:
    from obstore import GetOptions

MOST = 1_000_000
LARGEST = 2**36  # as of files
AT_ONCE = 4
CHUNK = 2**20
MD5 = re.compile(r'"([0-9a-f]{32})"')
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Object:
    """As it was listed; `name` is its address without any secret."""

    name: str
    key: str
    size: int
    etag: str
    modified: datetime


@dataclass(slots=True)
class Store:
    """What `path` names in one bucket or container."""

    address: Address
    remote: ObjectStore
    where: str
    stopped: Event = field(default_factory=Event)
    etags_hash: bool = True  # until one proves to be no MD5, as in buckets that are encrypted with keys of one's own

    @classmethod
    def of(cls, found: Stanza, base: Path) -> "Store":
        there = address(found.text("path"), found.where)
        return cls(there, opened(found, there, base), found.where)

    def listed(self) -> list[Object]:
        """In order of name. A path without wildcard is one object, else all under it but hidden ones and those that begin with `_`."""
        path = self.address
        if path.is_glob:
            found = [each for each in self.under(path.prefix) if matches(each.key, path.key)]
        elif path.key and not path.key.endswith("/") and (one := self.head(path.key)):
            found = [one]
        else:
            folder = path.key.rstrip("/")
            found = [each for each in self.under(folder) if is_plain(each.key[len(folder) :])]
        if not found:
            raise absent(f"there is nothing at {path.name(path.key)}", self.where)
        return sorted(found, key=lambda each: each.name)

    def under(self, folder: str) -> Iterator[Object]:
        count = 0
        pages = iter(self.asked(folder, self.remote.list, folder or None))
        while page := self.asked(folder, next, pages, None):
            count += len(page)
            if count > MOST:
                raise InputError(
                    "too-large",
                    f"there are more than {MOST:,} objects under {self.address.name(folder)}",
                    where=self.where,
                    hint="let path begin further down",
                )
            yield from map(self.found, page)

    def head(self, key: str) -> Object | None:
        try:
            return self.found(self.asked(key, self.remote.head, key))
        except InputError as error:
            if error.code == "no-such-file":
                return None
            raise

    def found(self, meta: Any) -> Object:
        key = meta["path"]
        if not key.isprintable():
            raise InputError(
                "unreadable-file", f"the name {key!a} is not plain text", where=self.where, hint="rename the object"
            )
        return Object(self.address.name(key), key, meta["size"], quoted(meta["e_tag"]), meta["last_modified"])

    def fetch(self, wanted: Sequence[Object], folder: Path) -> dict[str, Path]:
        """By name where each now lies; some at once. Nothing is fetched where there is no room for all."""
        size, room = sum(each.size for each in wanted), shutil.disk_usage(folder).free
        for each in wanted:
            if each.size > LARGEST:
                raise self.too_large(f"{each.name} has {each.size:,} bytes, more than 64 GiB", "split it")
        if size > room:
            raise self.too_large(
                f"{len(wanted)} objects of {size:,} bytes do not fit into {folder.parent}, where {room:,} are free",
                "narrow path, or set TMPDIR to a larger folder",
            )
        first = len(list(folder.iterdir()))
        paths = {each.name: folder / f"{number:06d}" for number, each in enumerate(wanted, first)}
        with ThreadPoolExecutor(AT_ONCE) as pool:
            waiting = [pool.submit(self.whole, each, paths[each.name]) for each in wanted]
            try:
                for one in waiting:
                    one.result()
            except BaseException:
                self.stopped.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return paths

    def whole(self, wanted: Object, to: Path) -> None:
        """An ETag that looks like an MD5 and is another: either bytes were damaged, or it is none; a second fetch tells."""
        first = self.once(wanted, to)
        said = MD5.fullmatch(wanted.etag)
        if not said or first == said[1] or not self.etags_hash:
            return
        second = self.once(wanted, to)
        if second not in (first, said[1]):
            raise InputError(
                "half-response", f"{wanted.name} came with other bytes each time", where=self.where, hint="try again"
            )
        self.etags_hash = second == said[1]

    def once(self, wanted: Object, to: Path) -> str:
        """The MD5 of what came."""
        options: GetOptions = {"if_match": wanted.etag} if wanted.etag else {}
        answer = self.asked(wanted.key, lambda: self.remote.get(wanted.key, options=options))
        if answer.meta["size"] != wanted.size or quoted(answer.meta["e_tag"]) != wanted.etag:
            raise changed(wanted.name, self.where)
        digest, size = hashlib.md5(usedforsecurity=False), 0
        parts = iter(answer.stream(min_chunk_size=CHUNK))
        with to.open("wb") as file:
            while (part := self.asked(wanted.key, next, parts, None)) is not None and not self.stopped.is_set():
                size += len(part)
                digest.update(part)
                file.write(part)
                if size > wanted.size:
                    break
        if size != wanted.size and not self.stopped.is_set():
            raise changed(wanted.name, self.where)
        return digest.hexdigest()

    def asked(self, key: str, ask: Callable[..., Answer], *given: Any) -> Answer:
        try:
            return ask(*given)
        except RAISED as error:
            told = failure(error, self.address.name(key), self.where)
        raise told  # out here: a chain would carry the words of obstore along

    def too_large(self, message: str, hint: str) -> InputError:
        return InputError("too-large", message, where=self.where, hint=hint)


def quoted(etag: str | None) -> str:
    """Azure lists its ETags without the quotes that it answers with."""
    return f'"{etag}"' if etag and not etag.endswith('"') else etag or ""


def is_plain(rest: str) -> bool:
    return not any(part.startswith((".", "_")) for part in rest.split("/"))
