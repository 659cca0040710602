"""Disputes as somebody may see them, for pages and API alike."""

from dataclasses import replace

from apportion.books.shapes import Dispute
from apportion.errors import ApportionError
from apportion.model.times import parse_period
from apportion.verbs.dispute import disputes
from apportion.verbs.disputing.target import find_target, owners_of
from apportion.verbs.explaining.seen import seen_evidence
from apportion.web.ask import Ask, NotThereError
from apportion.web.work import full_name


def seen_dispute(ask: Ask, number: str) -> Dispute:
    """What does not exist and what is not theirs look the same."""
    for found in disputes(ask.project):
        if str(found.number) == number and ask.sees_owner(found.owner):
            return replace(found, evidence=seen_evidence(found.evidence, ask.viewer.teams))
    raise NotThereError("such dispute")


def seen_figure(ask: Ask, period: str, what: str) -> str:
    """By the name that they may ask for it. Whatever is not theirs to see is no figure, found before anything could tell whether it exists."""
    if ask.viewer.teams is None or is_theirs(ask, period, what):
        return what
    full = full_name(ask, what)
    if full == what or not is_theirs(ask, period, full):
        raise NotThereError("such figure")
    return full


def is_theirs(ask: Ask, period: str, what: str) -> bool:
    try:
        owners = owners_of(ask.project, find_target(ask.project, what, parse_period(period)))
    except ApportionError:
        return False
    return bool(owners) and all(map(ask.sees_owner, owners))
