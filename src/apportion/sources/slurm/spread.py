"""A job's total over its nodes. sacct says what a job holds in all, not what on which node.

Where all nodes are alike that is an even share. Where nodes are known, one that has none of a thing gets none of it and none gets more than it has, so
that a job on whole nodes gets exactly what they have. The shares always add up to the total.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from apportion.model.gpus import Board, share_of
from apportion.sources.slurm.nodes import Node
from apportion.sources.slurm.tres import UNTYPED, Tres, board_part


def spread(total: int, most: Sequence[int | None]) -> list[int]:
    """Whole shares, as even as the bounds allow; what is left over goes to the first ones. Beyond all bounds the rest is shared evenly too."""
    shares = [0] * len(most)
    open_ = list(range(len(most)))
    left = total
    for bound, place in sorted((bound, place) for place, bound in enumerate(most) if bound is not None):
        if bound > left // len(open_):
            break
        shares[place] = bound
        left -= bound
        open_.remove(place)
        if not open_:
            return (
                [share + more for share, more in zip(shares, spread(left, [None] * len(most)), strict=True)]
                if left
                else shares
            )
    each, more = divmod(left, len(open_))
    for number, place in enumerate(open_):
        shares[place] = each + (number < more)
    return shares


def whole(total: Fraction, scale: int, most: Sequence[Fraction | None]) -> list[int]:
    """Base units: in whole units where the total is a whole number of them, so that no node holds a third of a core."""
    if total.denominator == 1:
        bounds = [None if bound is None else int(bound) for bound in most]
        return [share * scale for share in spread(int(total), bounds)]
    return spread(round(total * scale), [None if bound is None else int(bound * scale) for bound in most])


def gpu_shares(held: Tres, places: Sequence[Node | None], board: Board, scale: int) -> list[int]:
    """Boards of each type over the nodes that have it; parts of boards (shards, MPS) by how the node's boards are cut."""
    shares = [0] * len(places)
    for model, count in held.gpus:
        own = count if model else retyped(count, places)
        for place, given in enumerate(whole(own, scale, [boards_on(node, model) for node in places])):
            shares[place] += given
    for kind, model, count in held.parts:
        cut = next((node.board(board) for node in places if node), board)
        part = share_of(f"gres/{kind}", cut)
        for place, given in enumerate(whole(count * part, scale, [boards_on(node, model) for node in places])):
            shares[place] += given
    return shares


def retyped(count: Fraction, places: Sequence[Node | None]) -> Fraction:
    """Untyped GPUs of a node that offers MIG instances alone are such instances."""
    models = {model for node in places if node for model, _ in node.has.gpus}
    return count * board_part(models.pop()) if len(models) == 1 else count


def boards_on(node: Node | None, model: str) -> Fraction | None:
    if node is None:
        return None
    return sum((count for own, count in node.has.gpus if model in (UNTYPED, own)), Fraction(0))


def model_of(held: Tres, places: Sequence[Node | None]) -> str:
    """The type that the job's TRES name, else that of its nodes (20.11 names none where the request did not)."""
    if held.model or not (held.gpus or held.parts):
        return held.model
    return "+".join(sorted({node.model for node in places if node and node.model}))


def known(names: Sequence[str], nodes: Mapping[str, Node]) -> list[Node | None]:
    return [nodes.get(name) for name in names]
