"""Files that are written completely or not at all."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from thalweg.base.errors import RequestError
from thalweg.base.files.whole_file import whole_file


def test_a_file_appears_only_when_complete(tmp_path: Path) -> None:
    target = tmp_path / "trial.csv"
    with whole_file(target) as partial:
        partial.write_text("a")
        assert not target.exists()
        assert partial.suffix == ".csv"
    assert target.read_text() == "a"
    assert list(tmp_path.iterdir()) == [target]


STOPS: list[tuple[BaseException, str]] = [
    (OSError(28, "No space left on device"), "cannot write .*trial.csv: No space left on device"),
    (KeyboardInterrupt("stop"), "stop"),
]


@pytest.mark.parametrize(("stop", "message"), STOPS)
def test_a_failed_write_leaves_the_older_file(tmp_path: Path, stop: BaseException, message: str) -> None:
    target = tmp_path / "trial.csv"
    target.write_text("older")

    def write() -> None:
        with whole_file(target) as partial:
            partial.write_text("half")
            raise stop

    with pytest.raises((RequestError, KeyboardInterrupt), match=message):
        write()
    assert target.read_text() == "older"
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_is_kept_and_a_device_is_written_directly(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("older")
    link, null = tmp_path / "link.csv", tmp_path / "null.csv"
    link.symlink_to("real.csv")
    null.symlink_to("/dev/null")
    for file in (link, null):
        with whole_file(file) as partial:
            partial.write_text("new")
    assert (tmp_path / "real.csv").read_text() == "new"
    assert link.is_symlink()
    assert null.resolve() == Path("/dev/null")


@pytest.mark.parametrize(
    ("option", "ending"),
    [
        *(("--trace", ending) for ending in (".parquet", ".csv", ".sqlog", ".qlog")),
        *(("--plot", ending) for ending in (".html", ".png", ".svg")),
    ],
)
def test_a_trace_or_figure_on_a_full_disk_leaves_no_file(tmp_path: Path, option: str, ending: str) -> None:
    file = tmp_path / f"trial{ending}"
    done = _with_little_room("run", "c4/simple-20mbps", option, str(file))
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: cannot write {file}: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.soak
@pytest.mark.parametrize("room", [1_000, 9_000])
def test_a_result_that_finds_no_room_can_be_run_again(tmp_path: Path, room: int) -> None:
    # Metadata of one scenario is 3 kB, the flows of 300 trials are more than 9 kB.
    suite = ["suite", "c4", "--only", "simple-20mbps", "--trials", "300", "--out", str(tmp_path / "out")]
    done = _with_little_room(*suite, room=room)
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot write ")
    assert {file.name for file in (tmp_path / "out").iterdir()} <= {"experiment.json", "trials"}
    again = _with_little_room(*suite, room=100_000_000)
    assert again.returncode == 0


def _with_little_room(*arguments: str, room: int = 10_000) -> subprocess.CompletedProcess[str]:
    """The command, in a process that may write no file beyond so many bytes."""
    code = "import sys; from thalweg.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        check=False,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )


def test_partial_files_of_killed_writers_are_removed_but_not_those_of_running_ones(tmp_path: Path) -> None:
    code = """if True:
        import os, signal, sys
        from pathlib import Path
        from thalweg.base.files.whole_file import whole_file
        with whole_file(Path(sys.argv[1])) as partial:
            partial.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    """
    target = tmp_path / "trial.csv"
    target.write_text("older")
    killed = subprocess.run([sys.executable, "-c", code, str(target)], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = set(tmp_path.iterdir()) - {target}
    assert left.read_text() == "half"
    with whole_file(target) as first, whole_file(tmp_path / "other.csv") as second:
        assert set(tmp_path.iterdir()) == {target, first, second}
        first.write_text("newer")
    assert {file.name for file in tmp_path.iterdir()} == {"trial.csv", "other.csv"}
    assert target.read_text() == "newer"
