"""What the rules to start from say of work, how sure each is, and what a policy may say of facets and sizes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.engine.facets import facts_by
from apportion.engine.workloads import Census, asked_labels, facets_of, priced_facets
from apportion.errors import PolicyError
from apportion.model.times import parse_period
from apportion.policy.diff import diff
from apportion.policy.document import Policy
from apportion.policy.load import load_policy
from apportion.policy.sureness import sure_by, sure_of
from apportion.verbs.draft import facet_rules
from apportion.verbs.world import UTC_ZONE
from tests.cli.conftest import Run

HEAD = "policy: x\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\n"
POOL = "pools: {p: {costs: otherwise, meter: gpu, method: proportional, usage: {node: n}%s}}\n"
STARTING = load_policy(HEAD + "pools: {}\n" + facet_rules())
OCTOBER = parse_period("2026-10").interval(UTC_ZONE)


def said(policy: Policy, **labels: str) -> dict[str, str]:
    """`phase: training (guessed)` for each facet; labels with a dot are written with __."""
    words = {key.replace("__", "."): value for key, value in labels.items()}
    matching = [rule for rule in policy.facets if rule.when.matches(words)]
    return {name: f"{fact.value} ({fact.sure})" for name, fact in facts_by(matching, words).items()}


@pytest.mark.parametrize(
    ("labels", "facets"),
    [
        ({"slurm__command": "sbatch run.sh torchrun train.py"}, {"phase": "training (derived)", "framework": "torch (derived)"}),
        ({"k8s__command": "deepspeed x.py --model Llama-3"},
         {"phase": "training (derived)", "framework": "deepspeed (derived)", "family": "llama (derived)"}),
        ({"k8s__command": "accelerate launch sft.py"}, {"phase": "training (derived)", "framework": "accelerate (derived)"}),
        ({"k8s__command": "vllm serve Qwen/Qwen2-7B"},
         {"phase": "inference (derived)", "framework": "vllm (derived)", "family": "qwen (derived)"}),
        ({"k8s__image": "quay.io/jupyter/base"}, {"phase": "interactive (derived)"}),
        ({"k8s__image": "ollama/ollama", "k8s__command": "ollama serve"}, {"phase": "inference (derived)"}),
        ({"k8s__image": "rayproject/ray:2.9"}, {"framework": "ray (derived)"}),
        ({"k8s__image": "ghcr.io/x-ray/array"}, {}),
        ({"ml__kind": "TFJob", "name": "job-1"}, {"phase": "training (derived)", "framework": "tensorflow (derived)"}),
        ({"name": "train-bert-large"}, {"phase": "training (guessed)", "family": "bert (guessed)"}),
        ({"name": "finetune-x"}, {"phase": "training (guessed)"}),
        ({"name": "hp-search", "workload": "slurm/c/9_3@1"},
         {"phase": "tuning (guessed)", "experiment": "hp-search (guessed)", "trial": "slurm/c/9_3@1 (guessed)"}),
        ({"name": "eval-all", "k8s__label__phase": "data"}, {"phase": "data (stated)"}),
        ({"ml__sweep": "s1", "ml__run": "r7", "ml__experiment": "boxes", "ml__model": "google/vit-base"},
         {"phase": "tuning (tracked)", "trial": "r7 (tracked)", "experiment": "boxes (tracked)", "model": "google/vit-base (tracked)",
          "family": "vit (tracked)"}),
        ({"name": "bash"}, {"phase": "interactive (guessed)"}),
        ({"name": "something", "outcome": "failed"}, {"outcome": "failed (stated)"}),
    ],
)  # fmt: skip
def test_what_the_rules_to_start_from_say(labels: dict[str, str], facets: dict[str, str]) -> None:
    assert said(STARTING, **labels) == facets


def test_the_rules_to_start_from_are_sound_and_printed_as_they_are(run: Run) -> None:
    assert [note for note in STARTING.warnings if "pool" not in note] == []
    assert list(STARTING.sizes.values()) == sorted(STARTING.sizes.values())
    printed = run("draft", "facets")
    assert (printed.code, printed.out) == (0, facet_rules())


@given(st.dictionaries(
    st.sampled_from(["name", "workload", "k8s.image", "slurm.command", "ml.model", "ml.sweep", "ml.run", "k8s.label.phase", "outcome"]),
    st.sampled_from(["train-llama", "sweep-1", "vllm serve x", "completed", "jupyter", "bert", ""]),
))  # fmt: skip
def test_facts_are_what_plans_call_facets(labels: dict[str, str]) -> None:
    matching = [rule for rule in STARTING.facets if rule.when.matches(labels)]
    known = {name: fact.value for name, fact in facts_by(matching, labels).items()}
    own = {"outcome": labels["outcome"]} if labels.get("outcome") else {}
    assert known == own | facets_of(labels, STARTING) == own | Census(STARTING, OCTOBER, []).facets(labels)


@pytest.mark.parametrize(
    ("label", "sure"),
    [
        ("k8s.label.image", "stated"), ("slurm.comment.phase", "stated"), ("slurm.comment", "stated"), ("slurm.wckey", "stated"), ("tag.team", "stated"),
        ("ml.model", "tracked"), ("ml.tag.dataset", "tracked"), ("ml.kind", "derived"), ("image", "derived"), ("k8s.command", "derived"),
        ("slurm.partition", "derived"), ("gpu.model", "derived"), ("team", "derived"), ("name", "guessed"), ("k8s.pod", "guessed"),
    ],
)  # fmt: skip
def test_how_sure_a_label_is(label: str, sure: str) -> None:
    assert sure_of(label) == sure
    assert sure_by([label, "k8s.label.a"]) == sure, "a surer one beside it does not help"
    assert sure_by([label, "name"]) == "guessed"


def test_a_rule_may_say_how_sure_it_is_and_is_no_surer_than_what_it_asks() -> None:
    rules = (
        "facets:\n - {when: {name: 'prod-*'}, phase: inference, sure: stated}\n - {when: {name: t*}, phase: training}\n"
    )
    rules += " - {when: {phase: training}, framework: torch}\n"
    policy = load_policy(HEAD + "pools: {}\n" + rules)
    assert said(policy, name="prod-1") == {"phase": "inference (stated)"}
    assert said(policy, name="t1", phase="training") == {"phase": "training (guessed)", "framework": "torch (guessed)"}


def test_a_plan_asks_for_the_facets_that_money_depends_on() -> None:
    rules = "facets:\n - {when: {ml.kind: A}, phase: training}\n - {when: {phase: training}, family: '{ml.model}'}\n"
    rules += " - {when: {name: x*}, trial: '{workload}'}\n"
    plain = load_policy(HEAD + POOL % "" + rules)
    assert asked_labels(plain) == {"outcome", "node"}
    by_family = load_policy(HEAD + POOL % ", weights: {family: {llama: 2}}" + rules)
    assert asked_labels(by_family) == {"outcome", "node", "family", "ml.model", "phase", "ml.kind"}
    assert priced_facets(by_family) == by_family.facets[:2]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("sizes: {small: 1, large: 1}\n", "policy-value", "begin at the same number"),
        ("sizes: {small: -1}\n", "policy-value", "less than 0"),
        ("sizes: {small: many}\n", "policy-type", "many"),
        ("facets: [{when: {name: a}, phase: training, sure: certain}]\n", "policy-value", "certain"),
        ("facets: [{when: {name: a}, sure: stated}]\n", "policy-missing-key", "at least one facet"),
    ],
)
def test_what_a_policy_may_not_say(text: str, code: str, line: str) -> None:
    with pytest.raises(PolicyError) as refused:
        load_policy(HEAD + "pools: {}\n" + text)
    assert refused.value.code == code
    assert line in refused.value.message


def test_sizes_and_sureness_change_no_figure() -> None:
    old, new = (
        load_policy(HEAD + POOL % "" + text)
        for text in (
            "sizes: {s: 1}\nfacets: [{when: {name: a}, family: b}]\n",
            "sizes: {s: 2, t: 3}\nfacets: [{when: {name: a}, family: b, sure: stated}]\n",
        )
    )
    assert {one.effect for one in diff(old, new)} == {"no effect"}
