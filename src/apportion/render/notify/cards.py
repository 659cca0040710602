"""A message as Slack and Microsoft Teams want it. What people are called stands in plain text alone, so that no name can become a link or call a channel."""

import json
from collections.abc import Iterator
from typing import Any

from apportion.render.notify.message import Message

OPEN = "Open in Apportion"
HEADER, SECTION, MOST_SECTIONS = 150, 3000, 40  # characters; a message of Slack's has at most 50 blocks
CARD_BYTES = 24_000  # Teams takes 28 KB
MORE = "And more: the rest stands on the pages."


def slack(message: Message) -> dict[str, Any]:
    """An incoming webhook's body: `text` is what a notification shows, `blocks` what is read."""
    sections = [plain_section(part) for part in cut(message.text, SECTION)]
    left_out = [plain_section(MORE)] if len(sections) > MOST_SECTIONS else []
    link = [{"type": "section", "text": {"type": "mrkdwn", "text": f"<{escaped(message.link)}|{OPEN}>"}}]
    return {
        "text": escaped(message.subject),
        "blocks": [
            {"type": "header", "text": {"type": "plain_text", "text": message.subject[:HEADER], "emoji": False}},
            *sections[:MOST_SECTIONS],
            *left_out,
            *(link if message.link else []),
        ],
    }


def plain_section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}}


def escaped(text: str) -> str:
    """As Slack wants the three signs that begin something of its own."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def teams(message: Message) -> dict[str, Any]:
    """A Workflows webhook's body: one Adaptive Card. Its runs of text know no Markdown."""
    body = [rich(message.subject, size="Large", weight="Bolder")]
    room = CARD_BYTES - size(body)
    for part in message.text.split("\n\n"):
        block = rich(part)
        room -= size(block)
        if room < 0:
            body.append(rich(MORE))
            break
        body.append(block)
    actions = [{"type": "Action.OpenUrl", "title": OPEN, "url": message.link}] if message.link else []
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "fallbackText": message.subject,
        "body": body,
        **({"actions": actions} if actions else {}),
    }
    content = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [content]}


def rich(text: str, **look: str) -> dict[str, Any]:
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, **look}]}


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())


def cut(text: str, most: int) -> Iterator[str]:
    """At the ends of paragraphs, then of lines; what is longer than `most` is cut where it must be."""
    rest = text
    while len(rest) > most:
        at = max(rest.rfind("\n\n", 0, most), 0) or max(rest.rfind("\n", 0, most), 0) or most
        yield rest[:at].rstrip()
        rest = rest[at:].lstrip("\n")
    if rest:
        yield rest
