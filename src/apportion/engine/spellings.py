"""How clouds and clusters spell one machine: ARNs, self links, provider ids, resource paths, OCIDs, addresses and host names.

Every function gives a key: two spellings of one machine have the same. Keys are in lower case: Azure's bills are, and elsewhere ids and
host names differ in more than that.
"""

import re
from ipaddress import ip_address

SCHEME = re.compile(r"^([a-z][a-z0-9+.-]*):/+(.+)$")
GOOGLE = re.compile(r"(?:^|/)projects/([^/]+)/(?:zones/([^/]+)/)?instances/([^/]+)$")
AZURE = re.compile(r"/subscriptions/.+$")
ORACLE = re.compile(r"ocid1\.instance\.\S+$")
SCALE_SET = re.compile(r"/virtualmachinescalesets/([^/]+)/virtualmachines/([^/]+)$")
ADDRESS_NAME = re.compile(r"^ip-(\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3})(?:\.|$)")  # AWS names hosts so
ADDRESS = re.compile(r"[0-9a-f:.]{3,45}")
KINDS = (
    "instance",
    "instances",
    "virtualmachine",
    "virtualmachines",
    "server",
    "servers",
)  # what a path calls machines
SHORTEST_NUMBER = 8  # 3 is a machine of some scale set; Google's numbers have 19 digits
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
SCALE_SET_DIGITS = 6


def provider_key(text: str) -> str:
    """The whole path of a machine in its cloud; "" where `text` is no such path."""
    text = text.strip().casefold()
    if found := GOOGLE.search(text):
        project, zone, name = found.groups()
        return f"gce/{project}/{zone}/{name}" if zone else ""
    for path in (AZURE, ORACLE):
        if found := path.search(text):
            return found[0]
    found = SCHEME.match(text)
    if found is None or found[1] in ("http", "https"):
        return ""
    return f"{found[1]}/{found[2].strip('/')}"


def instance_key(text: str) -> str:
    """The machine's own id: the last part of a path that names a machine, or the text itself where it is no path; "" for anything else."""
    text = text.strip().casefold()
    if found := SCALE_SET.search(text):
        return "/".join(found.groups())
    path = SCHEME.match(text)
    *before, last = re.split(r"[/:]+", text)
    named = not before or (path is not None and path[1] not in ("http", "https")) or before[-1] in KINDS
    return last if named and not (last.isdecimal() and len(last) < SHORTEST_NUMBER) else ""


def address_key(text: str) -> str:
    """An address, written as such or as `ip-10-0-1-5.eu-central-1.compute.internal`; "" where it is none that tells machines apart."""
    text = text.strip().casefold()
    found = ADDRESS_NAME.match(text)
    if found is None and not ADDRESS.fullmatch(text):  # the usual case, and quicker than a refusal
        return ""
    try:
        address = ip_address(found[1].replace("-", ".") if found else text)
    except ValueError:
        return ""
    return "" if address.is_loopback or address.is_unspecified or address.is_link_local else str(address)


def host_key(text: str) -> str:
    """A host's name without its domain. The members of an Azure scale set are called by the set and a number of six digits to base 36."""
    text = text.strip().casefold()
    if found := SCALE_SET.search(text):
        return found[1] + base_36(int(found[2])) if found[2].isdecimal() else found[2]
    name = text if not re.search(r"[/:]", text) else instance_key(text)
    host = name.partition(".")[0]
    no_host = host.isdecimal() or host in ("", "localhost") or address_key(name) or ORACLE.search(name)
    return "" if no_host else host


def base_36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, len(DIGITS))
        digits = DIGITS[digit] + digits
    return digits.rjust(SCALE_SET_DIGITS, "0")
