"""The few figures taken from public traces that give the demo month its shape. docs/explanation/demo-data.md says which came from where."""

from typing import Final

from apportion.sources.demo.dice import Curve

# Run times in seconds at per mille of the jobs. Philly (ATC'19) by number of GPUs; SURF LISA 2022 for CPU jobs.
ONE_GPU: Final[Curve] = (
    (0, 20), (50, 52), (100, 62), (200, 76), (300, 215), (400, 600), (500, 1117), (600, 1728), (700, 2464), (800, 3754), (900, 8512),
    (930, 12341), (950, 19137), (970, 44246), (980, 68259), (990, 135404), (995, 266986), (999, 868927), (1000, 868927),
)  # fmt: skip
FEW_GPUS: Final[Curve] = (
    (0, 5), (50, 11), (100, 15), (200, 19), (300, 25), (400, 85), (500, 367), (600, 5581), (700, 25432), (800, 79264), (900, 166199),
    (930, 188758), (950, 233725), (970, 348684), (980, 467815), (990, 748678), (1000, 1127338),
)  # fmt: skip
EIGHT_GPUS: Final[Curve] = (
    (0, 60), (50, 125), (100, 216), (200, 783), (300, 3940), (400, 12390), (500, 23683), (600, 64753), (700, 140815), (800, 203140),
    (900, 352409), (930, 423965), (950, 525631), (970, 670069), (980, 807057), (990, 1066894), (1000, 2010727),
)  # fmt: skip
MANY_GPUS: Final[Curve] = (
    (0, 20), (50, 35), (100, 69), (200, 345), (300, 880), (400, 3165), (500, 21137), (600, 53862), (700, 73728), (800, 159985),
    (900, 252560), (930, 340881), (950, 446126), (970, 522661), (980, 622377), (990, 1152387), (1000, 1369876),
)  # fmt: skip
CPU_JOB: Final[Curve] = (
    (0, 4), (50, 8), (100, 14), (200, 39), (300, 52), (400, 92), (500, 191), (600, 441), (700, 1715), (800, 3755), (900, 7374),
    (930, 13027), (950, 21498), (970, 35755), (980, 66399), (990, 151167), (1000, 432013),
)  # fmt: skip
NOTEBOOK: Final[Curve] = (
    (0, 900),
    (250, 5400),
    (500, 12600),
    (750, 27000),
    (950, 36000),
    (1000, 64800),
)  # our own choice: a working day

# Jobs by number of GPUs, Philly: 1; 2; 4; 8; and in whole nodes of 8 beyond that (12 and 16, 24, 32, 64, 128 GPUs).
GPU_COUNTS: Final = ((76627, 1), (1818, 2), (1870, 4), (1643, 8))
GANG_NODES: Final = ((206, 2), (7, 3), (67, 4), (6, 8), (3, 16))
GANGS: Final = 289
PHILLY_JOBS: Final = 82_247

# Submissions by hour of the local day and by weekday from Monday: SURF LISA 2022.
BY_HOUR: Final = (3286, 2711, 3433, 2267, 2332, 3233, 6253, 5877, 9787, 9033, 8908, 8495,
                  10440, 12714, 16277, 14043, 11862, 12946, 11335, 7496, 8673, 11421, 7043, 5052)  # fmt: skip
BY_WEEKDAY: Final = (36434, 36140, 36458, 37597, 26152, 11881, 10255)

# How jobs end, per mille, and how long they ran in per cent of a mean job: Helios (GPU: count and GPU time by final state; CPU), openb 2023 (pods).
GPU_ENDS: Final = ((624, "completed", 82), (221, "cancelled", 178), (120, "failed", 60), (35, "out_of_memory", 60))
CPU_ENDS: Final = ((909, "completed", 100), (30, "cancelled", 100), (61, "failed", 100))
POD_ENDS: Final = ((649, "completed", 140), (50, "cancelled", 140), (261, "failed", 6), (40, "out_of_memory", 6))
NOTEBOOK_ENDS: Final = ((880, "completed", 100), (90, "cancelled", 100), (30, "out_of_memory", 60))  # our own choice
ATTEMPTS: Final = (2218, 442, 180, 122, 72)  # jobs that took 1, 2, 3, 4 and 5 attempts (Philly)
LOST_PER_CENT: Final = 21  # of such jobs' time lies before their last attempt (Philly)
PREEMPTIBLE: Final = 110  # per mille of jobs are spot (Alibaba v2026-spot-gpu)

# Pods by GPU quarters they ask for, openb 2023: 1/4, 2/4, 3/4 of a board; those above take a whole one, as do 3,986 of 7,064.
QUARTERS: Final = ((308, 1), (1292, 2), (400, 3))
SEVENTHS: Final = ((5, 1), (3, 2), (2, 3))  # MIG slices: our own choice
CORES_PER_GPU: Final[Curve] = (  # milli-cores, openb 2023
    (0, 2000), (50, 3152), (100, 3891), (200, 3891), (300, 8048), (400, 11300), (500, 11400), (600, 12000), (700, 14900), (800, 17021),
    (900, 18708), (950, 25336), (1000, 34783),
)  # fmt: skip

# Measured utilisation per mille: Philly boards, Acme Kalos boards that do run (NSDI'24), GenAI serving pods 2026, SURF LISA cores, Acme Seren hosts.
BUSY_SMALL: Final[Curve] = (
    (0, 0),
    (300, 0),
    (400, 222),
    (500, 486),
    (600, 694),
    (700, 874),
    (800, 965),
    (900, 993),
    (950, 1000),
    (1000, 1000),
)
BUSY_LARGE: Final[Curve] = ((0, 100), (60, 610), (200, 970), (340, 980), (480, 990), (750, 1000), (1000, 1000))
BUSY_SERVING: Final[Curve] = (
    (0, 0),
    (50, 1),
    (100, 4),
    (200, 51),
    (500, 58),
    (700, 62),
    (800, 83),
    (900, 116),
    (950, 133),
    (990, 269),
    (1000, 277),
)
BUSY_CPU_JOB: Final[Curve] = (
    (0, 0),
    (50, 2),
    (100, 29),
    (200, 63),
    (400, 98),
    (500, 411),
    (600, 748),
    (700, 943),
    (800, 1000),
    (1000, 1000),
)
BUSY_HOST: Final[Curve] = (
    (0, 0),
    (200, 4),
    (300, 23),
    (500, 80),
    (700, 117),
    (800, 376),
    (900, 450),
    (950, 466),
    (990, 763),
    (1000, 1000),
)

# Watts. A resting board 62 W and a host of 1,016 W beside its eight boards (Acme, 5 % points); a busy board 85 % of its limit (Zeus, NSDI'23).
BOARD_AT_REST: Final = 62
HOST_PER_BOARD: Final = 127
BUSY_BOARD: Final = {"h100": 595, "a100": 340, "l40s": 297}
PER_CORE: Final = 8  # 546 W, the median CPU server of Acme, over 64 cores
