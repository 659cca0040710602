"""How AWS shares the cost of an instance among its accelerators, cores and memory, for split cost allocation.

An accelerator weighs as much as ten vCPUs, a vCPU as much as nine GB. From AWS's documentation: an m5.xlarge (4 vCPU, 16 GB) at $1 an hour
has 4 x 9 + 16 x 1 = 52 units, so that a vCPU-hour costs 9/52 and a GB-hour 1/52 dollars; a p3.16xlarge (8 GPUs, 64 vCPU, 488 GB) at $10
has 8 x 9 + 64 x 0.9 + 488 x 0.1 = 178.4 units.
"""

from fractions import Fraction

PLAIN = {"vCPU": Fraction(9), "GB": Fraction(1)}
ACCELERATED = {"Accelerator": Fraction(9), "vCPU": Fraction(9, 10), "GB": Fraction(1, 10)}
UNITS = {"Accelerator": 90, "vCPU": 9, "GB": 1}  # both, in whole numbers


def unit_costs(
    cost: Fraction, vcpus: Fraction, gb: Fraction, accelerators: Fraction = Fraction(0)
) -> dict[str, Fraction]:
    """What one accelerator, one vCPU and one GB of an instance cost, when the whole of it costs `cost`."""
    weights = ACCELERATED if accelerators else PLAIN
    amounts = {"Accelerator": accelerators, "vCPU": vcpus, "GB": gb}
    units = sum((weights[kind] * amounts[kind] for kind in weights), Fraction(0))
    return {kind: cost / units * weight for kind, weight in weights.items()}


def kind_of(usage_type: str) -> str:
    """`USE1-EKS-EC2-Accelerator-Hours`, `...-vCPU-Hours`, `...-GB-Hours`; empty for others."""
    return next((kind for kind in UNITS if usage_type.endswith(f"-{kind}-Hours")), "")
