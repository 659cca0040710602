"""openstack/cloudkitty: prices that its hashmap module's own tests expect."""

from tests.checked import hashmap
from tests.checked.conftest import Keep


def test_hashmap(keep: Keep) -> None:
    keep("hashmap", hashmap.outcomes())
