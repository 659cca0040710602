"""What is compared."""

from apportion.engine.backend import Backend
from apportion.engine.plan import World, make_plan
from apportion.errors import ApportionError


def digest(world: World, backend: Backend) -> str:
    """Or what is refused, and why."""
    try:
        return make_plan(world, backend).digest
    except ApportionError as error:
        return str(error)
