"""Who works here: eight teams with their projects, users and names in the two schedulers."""

from dataclasses import dataclass

from apportion.sources.demo.dice import Dice


@dataclass(frozen=True, slots=True)
class Crew:
    """A team as the schedulers see it. `first_user` numbers its people; there are no names."""

    team: str
    stem: str  # of its Slurm accounts: lang-pretrain
    projects: tuple[str, ...]
    first_user: int
    users: int
    framework: int  # per mille of its work on PyTorch; the rest on JAX

    def account(self, project: str) -> str:
        return f"{self.stem}-{project}"

    def person(self, dice: Dice, project: str = "") -> tuple[str, str]:
        """A user and the one project that the user works on. A few people do most of the work: the lower of two throws."""
        number = min(dice.below(self.users), dice.below(self.users))
        if project:
            wanted = self.projects.index(project)
            number = min(number - number % 3 + wanted, wanted + (self.users - 1 - wanted) // 3 * 3)
        return f"u{self.first_user + number}", self.projects[number % 3]


CREWS = (
    Crew("language", "lang", ("pretrain", "align", "translate"), 1001, 14, 700),
    Crew("vision", "vis", ("segment", "detect", "video"), 1101, 12, 950),
    Crew("speech", "spk", ("recognise", "synthesise", "denoise"), 1201, 8, 900),
    Crew("recommend", "rec", ("ranking", "retrieval", "bidding"), 1301, 11, 600),
    Crew("genomics", "geno", ("folding", "variants", "screening"), 1401, 7, 300),
    Crew("robotics", "robo", ("grasp", "navigate", "simulate"), 1501, 8, 850),
    Crew("search", "srch", ("embed", "rerank", "query"), 1601, 9, 800),
    Crew("ml-platform", "plat", ("ci", "health", "benchmark"), 1701, 5, 1000),
)
VISION, GENOMICS, PLATFORM = 1, 4, 7
