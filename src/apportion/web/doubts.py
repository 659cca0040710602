"""Disputes as somebody may see them, for pages and API alike."""

from dataclasses import replace

from apportion.books.shapes import Dispute
from apportion.errors import ApportionError
from apportion.model.times import parse_period
from apportion.verbs.dispute import disputes
from apportion.verbs.disputing.target import find_target, owners_of
from apportion.verbs.explaining.seen import seen_evidence
from apportion.web.ask import Ask, NotThereError


def seen_dispute(ask: Ask, number: str) -> Dispute:
    """What does not exist and what is not theirs look the same."""
    for found in disputes(ask.project):
        if str(found.number) == number and ask.sees_owner(found.owner):
            return replace(found, evidence=seen_evidence(found.evidence, ask.viewer.teams))
    raise NotThereError("such dispute")


def require_figure(ask: Ask, period: str, what: str) -> None:
    """Whatever is not theirs to see is no figure, found before anything is looked at that could tell whether it exists."""
    if ask.viewer.teams is None:
        return
    try:
        owners = owners_of(ask.project, find_target(ask.project, what, parse_period(period)))
    except ApportionError as error:
        raise NotThereError("such figure") from error
    if not owners or not all(map(ask.sees_owner, owners)):
        raise NotThereError("such figure")
