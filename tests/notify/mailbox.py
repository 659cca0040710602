"""A mail server of loopback that speaks SMTP as RFC 5321 has it: EHLO, STARTTLS, AUTH PLAIN, MAIL, RCPT, DATA. What it takes it keeps."""

import base64
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread


@dataclass
class Mailbox:
    """`always`: encrypted from the first byte. `answers` are the next codes for a whole mail, 250 after them; `refused` are addresses that it does not have."""

    port: int = 0
    tls: ssl.SSLContext | None = None
    always: bool = False
    login: tuple[str, str] | None = None
    answers: list[int] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    came: list[tuple[list[str], bytes]] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)

    @property
    def mails(self) -> list[EmailMessage]:
        return [message_from_bytes(raw, _class=EmailMessage, policy=policy.default) for _, raw in self.came]

    @property
    def recipients(self) -> list[list[str]]:
        return [to for to, _ in self.came]

    def to(self, address: str) -> list[EmailMessage]:
        return [mail for to, mail in zip(self.recipients, self.mails, strict=True) if address in to]

    @property
    def subjects(self) -> list[str]:
        return [str(mail["Subject"]) for mail in self.mails]


def text_of(mail: EmailMessage, kind: str = "plain") -> str:
    found = mail.get_body((kind,))
    assert found is not None
    return str(found.get_content())


class Dialogue(StreamRequestHandler):
    box: Mailbox

    def handle(self) -> None:
        self.is_in, self.is_safe, self.to = self.box.login is None, False, list[str]()
        try:
            self.talk()
        except OSError:
            pass  # whoever does not trust us is gone
        finally:
            self.request.close()

    def talk(self) -> None:
        if self.box.always:
            self.encrypt()
        self.say("220 here")
        while line := self.rfile.readline().decode().strip():
            word, _, rest = line.partition(" ")
            if word.upper() == "QUIT":
                self.say("221 bye")
                return
            getattr(self, f"do_{word.lower()}", self.unknown)(rest)

    def say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())

    def unknown(self, _: str) -> None:
        self.say("502 no such command")

    def do_ehlo(self, _: str) -> None:
        offers = ["here", "8BITMIME"]
        offers += ["STARTTLS"] if self.box.tls and not self.is_safe else []
        offers += ["AUTH PLAIN"] if self.box.login and (self.is_safe or not self.box.tls) else []
        for number, offer in enumerate(offers, 1):
            self.say(f"250{' ' if number == len(offers) else '-'}{offer}")

    def do_starttls(self, _: str) -> None:
        self.say("220 go")
        self.encrypt()

    def encrypt(self) -> None:
        assert self.box.tls
        self.request = self.box.tls.wrap_socket(self.request, server_side=True)
        self.rfile, self.wfile = self.request.makefile("rb"), self.request.makefile("wb", buffering=0)
        self.is_safe = True

    def do_auth(self, rest: str) -> None:
        _, _, given = rest.partition(" ")
        _, user, password = base64.b64decode(given).decode().split("\0")
        self.is_in = (user, password) == self.box.login
        self.say("235 welcome" if self.is_in else f"535 not with {password}")

    def do_mail(self, _: str) -> None:
        self.to = []
        self.say("250 fine" if self.is_in else "530 who are you")

    def do_rcpt(self, rest: str) -> None:
        address = rest[rest.index("<") + 1 : rest.index(">")]
        if address in self.box.refused:
            self.say("550 nobody of that name")
            return
        self.to.append(address)
        self.say("250 fine")

    def do_rset(self, _: str) -> None:
        self.say("250 fine")

    def do_data(self, _: str) -> None:
        self.say("354 go on")
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line.removeprefix(b"."))
        code = self.box.answers.pop(0) if self.box.answers else 250
        if code == 250:
            self.box.came.append((self.to, b"".join(lines)))
            self.box.encrypted.append(self.is_safe)
        self.say(f"{code} so be it")


@contextmanager
def receiving(box: Mailbox) -> Iterator[Mailbox]:
    server = ThreadingTCPServer(("127.0.0.1", 0), type("Ours", (Dialogue,), {"box": box}))
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    box.port = server.server_address[1]
    try:
        yield box
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
