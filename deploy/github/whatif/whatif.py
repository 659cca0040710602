"""Compares the policy of a pull request with what is posted, and says so in one comment, which later runs change.

Settings and books are those of the branch that is checked out; of the pull request only the policy's text is read. No code runs in a policy, so that
nobody who proposes one can make this machine do anything else. What it needs comes by the environment (action.yml).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

APPORTION = str(Path(sys.executable).with_name("apportion"))
MARK = "<!-- apportion-whatif -->"  # begins what `whatif -o md` prints


def main() -> int:
    project, policy, backup = (os.environ[name] for name in ("PROJECT", "POLICY", "BACKUP"))
    repository = f"repos/{os.environ['REPOSITORY']}"
    if backup:
        apportion(project, "backup", backup, "--restore", must=True)
    Path(policy).write_text(proposed(repository, policy, os.environ["COMMIT"]), "utf-8")
    wrong = refused(project)
    if not wrong:
        done = apportion(project, "whatif", "--policy", policy, "--period", newest(project), "--fairness", "-o", "md")
        wrong = done.stderr if done.returncode else ""
    post(repository, os.environ["NUMBER"], refusal(wrong) if wrong else done.stdout)
    print(wrong or "The comment is posted.")
    return 1 if wrong else 0


def proposed(repository: str, policy: str, commit: str) -> str:
    return gh(f"{repository}/contents/{policy}?ref={commit}", "-H", "Accept: application/vnd.github.raw+json")


def refused(project: str) -> str:
    """What `check` has against the policy. Sources cannot be reached from here, and are not what is asked about."""
    done = apportion(project, "check", "-o", "json")
    if not done.stdout:
        return done.stderr
    checks = json.loads(done.stdout)["checks"]
    about = [one for one in checks if one["what"] == "policy" or one["what"].startswith("plan of ")]
    return "\n".join(f"{one['text']}\n  {one['fix']}" for one in about if one["status"] == "wrong")


def newest(project: str) -> str:
    """The newest posted months, as many as were asked for."""
    months = [
        one["period"]
        for one in json.loads(apportion(project, "close", "--list", "-o", "json", must=True).stdout)["months"]
    ]
    if not months:
        sys.exit("Nothing is posted in these books: there is nothing to compare with.")
    some = months[-int(os.environ["MONTHS"]) :]
    return some[0] if len(some) == 1 else f"{some[0]}..{some[-1]}"


def refusal(wrong: str) -> str:
    """An indented block: whatever stands in it, it is neither markup nor a call."""
    lines = "\n".join(f"    {line}" for line in wrong[:20_000].splitlines())
    return f"{MARK}\n\n### The policy cannot be used as it is.\n\n{lines}\n"


def post(repository: str, number: str, text: str) -> None:
    """Into the comment of an earlier run, else a new one. Only a bot's can be ours, whoever else writes the mark."""
    pages = json.loads(gh(f"{repository}/issues/{number}/comments?per_page=100", "--paginate", "--slurp"))
    ours = [
        one["id"] for page in pages for one in page if one["user"]["type"] == "Bot" and one["body"].startswith(MARK)
    ]
    where = (
        ("-X", "PATCH", f"{repository}/issues/comments/{ours[0]}")
        if ours
        else ("-X", "POST", f"{repository}/issues/{number}/comments")
    )
    gh(*where, "--input", "-", given=json.dumps({"body": text}))


def apportion(project: str, *arguments: str, must: bool = False) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run([APPORTION, "--project", project, *arguments], capture_output=True, text=True, check=False)
    if must and done.returncode:
        sys.exit(done.stderr)
    return done


def gh(*arguments: str, given: str = "") -> str:
    done = subprocess.run(["gh", "api", *arguments], input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"gh api {arguments[0]}: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
