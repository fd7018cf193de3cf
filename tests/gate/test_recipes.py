"""The recipes of `ci/`: a commit that changes nothing is green, one that makes congestion control worse is red."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]
CI = ROOT / "ci"
OPTIONS = '--only "simple-*" -c main=mine.py'
Run = Callable[..., subprocess.CompletedProcess[str]]
ACTIONLINT = next(
    (
        file
        for file in (os.environ.get("ACTIONLINT"), shutil.which("actionlint"), ROOT / "target/tools/actionlint")
        if file and Path(file).exists()
    ),
    None,
)
"""`make actionlint` gets it where there is Go."""


@pytest.fixture(params=["dash", pytest.param("bash", marks=pytest.mark.soak)])
def shell(request: pytest.FixtureRequest) -> str:
    """What `sh` is on Debian, and elsewhere: they differ in what `set -e` does in functions."""
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is missing")
    return str(request.param)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a controller in Python and its baseline, and a second commit that makes it worse."""
    folder = tmp_path_factory.mktemp("toy")
    git(folder, "init", "--quiet", "--initial-branch", "main")
    thalweg(folder, "new", "controller", "mine")
    thalweg(folder, "gate", "c4", "--only", "simple-*", "-c", "main=mine.py", "--accept")
    commit(folder, "Add AIMD and its baseline")
    mine = folder / "mine.py"
    worse = mine.read_text(encoding="utf-8").replace("beta: float = 0.7", "beta: float = 0.3")
    assert worse != mine.read_text(encoding="utf-8")
    mine.write_text(worse, encoding="utf-8")
    commit(folder, "Keep 30 % of the window after a loss")
    return folder


@pytest.fixture
def toy(made: Path, tmp_path: Path) -> Path:
    """The repository, for a test alone."""
    return shutil.copytree(made, tmp_path / "toy", symlinks=True)


@pytest.fixture
def run(toy: Path, tmp_path: Path) -> Run:
    """Runs commands of a shell in the toy repository, after a check-out of one of its commits."""

    def started(script: str, at: str, shell: str = "sh", **variables: str) -> subprocess.CompletedProcess[str]:
        git(toy, "checkout", "--quiet", at)
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "COLUMNS": "200", **variables}
        return subprocess.run(
            [shell, "-e", "-c", script], cwd=toy, env=environment, capture_output=True, text=True, check=False
        )

    return started


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=Toy", "-c", "user.email=toy@example.org"]
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


def commit(folder: Path, subject: str) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", subject)


def thalweg(folder: Path, *arguments: str) -> None:
    subprocess.run([ROOT / ".venv/bin/thalweg", *arguments], cwd=folder, check=True, capture_output=True)


def is_green(run: subprocess.CompletedProcess[str], report: Path) -> None:
    assert run.returncode == 0, run.stderr
    assert "40 of 40 trials are identical to the baseline" in run.stdout
    assert ElementTree.parse(report / "gate.xml").getroot().find(".//failure") is None
    assert (report / "gate.md").read_text(encoding="utf-8").startswith("### Gate c4: passed\n")


def is_red(run: subprocess.CompletedProcess[str], report: Path) -> None:
    assert run.returncode == 1, run.stderr
    assert re.search("worse: simple-20mbps: main completion: .* also worse: closed ", run.stderr)
    assert re.search(r"replay: thalweg run c4/simple-20mbps --seed \d+ -c main=mine.py ", run.stderr)
    assert ElementTree.parse(report / "gate.xml").getroot().find(".//failure") is not None
    assert (report / "gate.md").read_text(encoding="utf-8").startswith("### Gate c4: failed\n")


def test_the_plain_recipe_is_green_at_the_first_commit_and_red_at_the_second(
    run: Run, shell: str, toy: Path
) -> None:
    script = f"{shell} {CI}/gate.sh c4 {OPTIONS}"
    build = "python3 -m py_compile mine.py && touch built"
    is_green(run(script, "main~1", BUILD=build), toy / "gate-report")
    assert (toy / "built").exists()
    is_red(run(script, "main", BUILD=build), toy / "gate-report")


def test_the_action_on_github_does_so_too_and_fills_the_summary(run: Run, toy: Path, tmp_path: Path) -> None:
    action = yaml.safe_load((CI / "github/action.yml").read_text(encoding="utf-8"))
    (step,) = [step for step in action["runs"]["steps"] if "run" in step]
    given = {"suite": "c4", "options": OPTIONS, "build": "", "report": "report"}
    assert set(given) == set(action["inputs"])
    texts = {f"${{{{ inputs.{name} }}}}": value for name, value in given.items()}
    texts["${{ runner.temp }}/thalweg"] = str(tmp_path / "tools")
    variables = {name: texts[text] for name, text in step["env"].items()}
    summary = tmp_path / "summary"
    variables |= {"GITHUB_ACTION_PATH": str(CI / "github"), "GITHUB_STEP_SUMMARY": str(summary)}
    is_green(run(step["run"], "main~1", step["shell"], **variables), toy / "report")
    is_red(run(step["run"], "main", step["shell"], **variables), toy / "report")
    assert re.findall("^### .*", summary.read_text(encoding="utf-8"), re.MULTILINE) == [
        "### Gate c4: passed",
        "### Gate c4: failed",
    ]


def test_the_job_on_gitlab_does_so_too(run: Run, toy: Path, tmp_path: Path) -> None:
    (job,) = yaml.safe_load((CI / "gitlab.yml").read_text(encoding="utf-8")).values()
    (tmp_path / "thalweg").symlink_to(ROOT)  # what `before_script` clones
    assert any('"$CI_BUILDS_DIR/thalweg"' in line for line in job["before_script"])
    variables = {**job["variables"], "CI_BUILDS_DIR": str(tmp_path)}
    script = "\n".join(job["script"])
    is_green(run(script, "main~1", **variables), toy / "gate-report")
    is_red(run(script, "main", **variables), toy / "gate-report")
    assert job["artifacts"]["reports"]["junit"] == "$REPORT/gate.xml"
    assert job["artifacts"]["when"] == "always"


def test_a_build_that_fails_is_one_message_and_no_old_report_stays_as_if_it_were_new(
    run: Run, shell: str, toy: Path
) -> None:
    (toy / "gate-report").mkdir()
    failed = run(f"{shell} {CI}/gate.sh c4 {OPTIONS}", "main~1", BUILD="echo no compiler >&2; exit 1")
    assert failed.returncode == 2
    assert failed.stderr == "no compiler\nerror: the build failed: echo no compiler >&2; exit 1\n"
    (toy / "gate-report/gate.xml").write_text("of yesterday", encoding="utf-8")
    assert run(f"{shell} {CI}/gate.sh c4 --only nothing", "main~1").returncode == 2
    assert not (toy / "gate-report/gate.xml").exists()


def test_a_suite_must_be_there(run: Run, shell: str) -> None:
    assert run(f"{shell} {CI}/gate.sh", "main").stderr.startswith("error: no suite; usage: ")


def is_not_installed(run: subprocess.CompletedProcess[str], thalweg: object) -> None:
    assert (run.returncode, run.stdout) == (2, ""), run.stderr
    accepted = "accepted: a checkout, a wheel, or what git clones"
    assert run.stderr.endswith(f"error: cannot install Thalweg from {thalweg}; {accepted}\n")


@pytest.mark.soak
def test_an_installation_ends_with_its_first_command_that_fails(run: Run, shell: str, tmp_path: Path) -> None:
    gate = f"{shell} {CI}/gate.sh c4"
    missing = run(gate, "main", THALWEG="/nowhere/thalweg")
    is_not_installed(missing, "/nowhere/thalweg")
    assert "make" not in missing.stderr
    (tmp_path / "broken.whl").write_text("no wheel", encoding="utf-8")
    is_not_installed(run(gate, "main", THALWEG=str(tmp_path / "broken.whl")), tmp_path / "broken.whl")
    other = make_checkout(tmp_path, "exit 3")
    is_not_installed(run(gate, "main", THALWEG=str(other)), other)
    # One that builds something else.
    other = make_checkout(tmp_path, "true")
    is_not_installed(run(gate, "main", THALWEG=str(other)), other)


def make_checkout(folder: Path, build: str) -> Path:
    """A folder with a Makefile that builds by such a command."""
    other = folder / "other"
    other.mkdir(exist_ok=True)
    (other / "Makefile").write_text(f"build:\n\t@{build}\n", encoding="utf-8")
    return other


def test_a_clone_of_the_script_is_built_each_time_and_a_checkout_of_others_once(
    run: Run, shell: str, tmp_path: Path
) -> None:
    """A folder of tools that CI keeps may hold an older build."""
    command = "mkdir -p .venv/bin; echo built >> log; ln -sf /bin/echo .venv/bin/thalweg"
    other = make_checkout(tmp_path, command)
    git(other, "init", "--quiet")
    commit(other, "Build")
    gate = f"{shell} {CI}/gate.sh c4"
    for count in (1, 2):
        cloned = run(gate, "main", THALWEG=f"file://{other}", TOOLS=str(tmp_path / "tools"))
        assert cloned.stdout.startswith("gate c4 --junit "), cloned.stderr
        assert (tmp_path / "tools/checkout/log").read_text(encoding="utf-8") == "built\n" * count
    for _ in range(2):
        assert run(gate, "main", THALWEG=str(other)).returncode == 0
        assert (other / "log").read_text(encoding="utf-8") == "built\n"


@pytest.mark.soak
def test_a_wheel_is_installed_into_a_folder_of_its_own(run: Run, shell: str, toy: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "thalweg-0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("toy_thalweg.py", "import sys\n\ndef main():\n    print('wheel', *sys.argv[1:3])\n")
        info = "thalweg-0.dist-info"
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: thalweg\nVersion: 0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/entry_points.txt", "[console_scripts]\nthalweg = toy_thalweg:main\n")
        file.writestr(f"{info}/RECORD", "")
    ran = run(f"{shell} {CI}/gate.sh c4", "main", THALWEG=str(wheel))
    assert (ran.returncode, ran.stdout) == (0, "wheel gate c4\n"), ran.stderr
    assert (toy / ".thalweg/venv/bin/thalweg").exists()


def test_the_action_and_its_example_keep_the_rules_of_github(tmp_path: Path) -> None:
    if ACTIONLINT is None:
        pytest.skip("SKIPPED the check of the action: there is no actionlint; make actionlint gets it with Go")
    workflows = tmp_path / ".github/workflows"
    workflows.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    shutil.copytree(CI / "github", tmp_path / "ci/github")
    example = (CI / "github/workflow.yml").read_text(encoding="utf-8")
    assert "uses: thalweg/thalweg/ci/github@main" in example
    # Of an action in the same repository, the inputs are checked too.
    example = example.replace("thalweg/thalweg/ci/github@main", "./ci/github")
    (workflows / "gate.yml").write_text(example, encoding="utf-8")

    def lint() -> subprocess.CompletedProcess[str]:
        return subprocess.run([ACTIONLINT, "-no-color"], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert lint().stdout == ""
    (workflows / "gate.yml").write_text(example.replace("suite: c4", "suit: c4"), encoding="utf-8")
    assert 'input "suit" is not defined' in lint().stdout


@pytest.mark.parametrize("go", [None, "#!/bin/sh\nexit 1\n"], ids=["no Go", "no proxy of Go"])
def test_ci_skips_the_check_of_the_action_aloud_where_actionlint_cannot_be_had(
    go: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = shutil.which("make")
    assert make is not None
    if go:
        (tmp_path / "go").write_text(go, encoding="utf-8")
        (tmp_path / "go").chmod(0o755)
    environment = {"PATH": str(tmp_path), "CI": "true"}
    command = [make, "--file", str(ROOT / "Makefile"), "actionlint"]
    got = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert got.returncode == 0, got.stderr
    assert got.stdout.startswith("SKIPPED the check of the action of GitHub: there is no actionlint, and Go is ")
    monkeypatch.setenv("CI", "true")
    monkeypatch.setitem(globals(), "ACTIONLINT", None)
    with pytest.raises(pytest.skip.Exception, match="SKIPPED the check of the action: there is no actionlint"):
        test_the_action_and_its_example_keep_the_rules_of_github(tmp_path)


def test_what_the_dockerfile_copies_exists_and_is_a_workspace(tmp_path: Path) -> None:
    copied = re.findall(
        r"^COPY (?!--from)(.*) \S+$", (CI / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE
    )
    names = [name for line in copied for name in line.split()]
    assert {"Cargo.toml", "Cargo.lock", "crates", "python", "pyproject.toml"} <= set(names)
    assert [name for name in names if not (ROOT / name).exists()] == []
    kept = (CI / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert [name for name in names if f"!{name}" not in kept and not name.startswith("LICENSE-")] == []
    for name in names:
        (tmp_path / name).symlink_to(ROOT / name)
    command = ["cargo", "metadata", "--no-deps", "--offline", "--locked", "--format-version", "1"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
