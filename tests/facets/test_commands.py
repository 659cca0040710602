"""What work ran is kept where it is asked for, and never with a secret in it."""

from pathlib import Path
from typing import Any

import pytest

from apportion.sources.cells.commands import LONGEST, command_text
from tests.kubernetes.objects import container, namespace, node, pod
from tests.kubernetes.reading import one, rows
from tests.kubernetes.server import serving
from tests.sources import making

WORD = "hush4711"


@pytest.mark.parametrize(
    "words",
    [
        ["train.py", "--hf-token", WORD], ["train.py", f"--hf_token={WORD}"], ["sh", "-c", f"WANDB_API_KEY={WORD} python x.py"],
        ["sh", "-c", f'export PASSWORD="{WORD} {WORD}"; run'], ["curl", f"https://me:{WORD}@host/x"], ["curl", "-H", f"Authorization: Bearer {WORD}"],
        ["x", f"--db-password='{WORD}'"], ["x", "--api-key", WORD], ["git", "clone", f"https://{WORD}@host/x"], ["x", f"AWS_SECRET_ACCESS_KEY: {WORD}"],
        ["x", f"hf_{WORD}"], ["x", f"sk-{WORD}{WORD}"], ["x", f"--token=-{WORD}"],
    ],
)  # fmt: skip
def test_no_secret_is_kept(words: list[str]) -> None:
    assert WORD not in command_text(words)


def test_what_ran_stays_readable() -> None:
    line = "torchrun --nproc_per_node 8 train.py --model meta-llama/Llama-3-8B --tokenizer *** --lr 1e-4"
    asked = [
        "torchrun",
        "--nproc_per_node",
        "8",
        "train.py\n --model",
        "meta-llama/Llama-3-8B",
        "--tokenizer",
        "x",
        "--lr",
        "1e-4",
    ]
    assert command_text(asked) == line
    assert len(command_text(["x" * 10**6])) == LONGEST
    assert command_text([]) == ""


def labels(found: list[Any]) -> dict[str, dict[str, str]]:
    return {row["name"]: dict(row["labels"]) for one in found for row in one.tables["workloads"].to_pylist()}


@pytest.mark.parametrize("kept", [False, True])
def test_slurm_tells_what_was_submitted(kept: bool, tmp_path: Path) -> None:
    fields = (
        "JobIDRaw|Cluster|User|Account|Partition|JobName|Submit|Start|End|State|AllocTRES|NodeList|Container|SubmitLine"
    )
    row = "17|hpc|ada|vision|gpu|x|2026-10-05T00:00:00|2026-10-05T00:00:00|2026-10-05T02:00:00|COMPLETED|cpu=4,gres/gpu=1,node=1|n1"
    making.put(tmp_path / "sacct.txt", f"{fields}\n{row}|/img/jax|sbatch --export=HF_TOKEN={WORD} run.sh resnet\n")
    found = labels(
        making.read("slurm", tmp_path, path="*.txt", window="2026-10", **({"commands": True} if kept else {}))
    )["x"]
    assert ("slurm.command" in found, "slurm.image" in found) == (kept, kept)
    if kept:
        assert (found["slurm.command"], found["slurm.image"]) == (
            "sbatch --export=HF_TOKEN=*** run.sh resnet",
            "/img/jax",
        )


@pytest.mark.parametrize("kept", [False, True])
def test_kubernetes_tells_images_and_commands(kept: bool) -> None:
    both = [
        container(image="vllm/vllm-openai:v1", command=["vllm", "serve"], args=["Qwen/Qwen2", "--api-key", WORD]),
        container("proxy", image="envoy:1"),
    ]
    with serving([node(), namespace("vision"), pod("serve-0", containers=both)]) as recorded:
        (found,) = rows(one(recorded, commands=kept), "workloads")
    told = {key: text for key, text in found["labels"].items() if key in ("k8s.image", "k8s.command")}
    assert told == (
        {"k8s.image": "vllm/vllm-openai:v1 envoy:1", "k8s.command": "vllm serve Qwen/Qwen2 --api-key ***"}
        if kept
        else {}
    )
