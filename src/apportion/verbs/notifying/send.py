"""One message, or several as one, by one channel; and what came of it."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Any

from apportion.books.hooks import Telling
from apportion.errors import ApportionError
from apportion.render.notify.cards import slack, teams
from apportion.render.notify.message import Message, Templates
from apportion.sources.outside.mail import send_mail
from apportion.sources.outside.post import post
from apportion.verbs.hooks import DELIVERY, EVENT, SIGNATURE, Told, signature
from apportion.verbs.notifying.settings import EMAIL, SLACK, TEAMS, Channel, Outlet

CARDS = {SLACK: slack, TEAMS: teams}
DIGEST = "digest"
PRINTABLE = "quoted-printable"  # any server takes it, and lines of any length


@dataclass(frozen=True, slots=True)
class Sender:
    """`allow_private`: whether addresses of this machine and its networks may be told by HTTP."""

    channel: Channel
    outlet: Outlet
    templates: Templates
    allow_private: bool = False

    def send(self, some: Sequence[Telling]) -> Told:
        first, alone = some[0], len(some) == 1
        event, about = (first.event, first.about) if alone else (DIGEST, f"{len(some)} messages")
        try:
            answer, good = self.sent(some, event), True
        except ApportionError as error:
            answer, good = error.message, False
        return Told(self.outlet.id, event, about, answer, good)

    def sent(self, some: Sequence[Telling], event: str) -> str:
        bodies = [json.loads(one.body) for one in some]
        if self.channel.kind in (EMAIL, *CARDS):
            made = [self.templates.message(body) for body in bodies]
            message = made[0] if len(made) == 1 else self.templates.digest(made)
            return self.mailed(message, some[0]) if self.channel.kind == EMAIL else self.posted(message)
        return self.signed(bodies[0] if len(bodies) == 1 else {"event": event, "messages": bodies}, some[0], event)

    def mailed(self, message: Message, first: Telling) -> str:
        return send_mail(self.channel.mail_server(), mail_of(message, self.channel.sender, self.outlet, first))

    def posted(self, message: Message) -> str:
        body = json.dumps(CARDS[self.channel.kind](message), ensure_ascii=False).encode()
        return post(self.revealed("url"), body, {}, allow_private=self.allow_private)

    def signed(self, said: Mapping[str, Any], first: Telling, event: str) -> str:
        body = json.dumps(said, sort_keys=True, ensure_ascii=False).encode()
        headers = {
            SIGNATURE: signature(self.revealed("secret"), body, int(time.time())),
            EVENT: event,
            DELIVERY: str(first.seq),
        }
        return post(self.revealed("url"), body, headers, allow_private=self.allow_private)

    def revealed(self, key: str) -> str:
        found = self.channel.secret(key)
        return found.reveal() if found else ""


def mail_of(message: Message, sender: str, outlet: Outlet, first: Telling) -> EmailMessage:
    """Text and page. A second sending of the same has the same id, so that a mailbox can show it once."""
    made = EmailMessage()
    made["Subject"] = message.subject
    made["From"] = sender
    made["To"] = ", ".join(outlet.to)
    made["Date"] = format_datetime(datetime.fromtimestamp(first.made_s or int(time.time()), UTC))
    number = first.seq or f"test-{time.time_ns()}"
    made["Message-ID"] = f"<{number}.{first.made_s}.apportion@{sender.rpartition('@')[2]}>"
    made["Auto-Submitted"] = "auto-generated"
    made.set_content(f"{message.text}\n\n{message.link}".strip() + "\n", cte=PRINTABLE)
    made.add_alternative(message.html, subtype="html", cte=PRINTABLE)
    return made
