"""Files of other programs in the folder of the lab: listed, explained, and played as a scenario like them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.conftest import Problems, shows
from lab.test_server import running
from pages.explain import writers
from pages.explain.measure import Case
from thalweg.base.errors import RequestError
from thalweg.experiments.explain import account_of_file
from thalweg.lab.folder import Folder
from thalweg.lab.stored import listed, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log, below one."""
    folder = tmp_path_factory.mktemp("logs")
    case = Case.of("bulk", 7, "cubic")
    (folder / "logs").mkdir()
    (folder / "logs" / "x.sqlog").write_text(writers.quic_go(writers.entries(case.trace, "main")))
    return folder


def test_a_log_is_explained_by_the_server_and_plays_as_its_scenario(
    browser: Browser, problems: Problems, logs: Path
) -> None:
    with running(logs) as lab:
        view = lab.page(browser, problems)
        view.get_by_role("tab", name="Results").click()
        view.get_by_role("button", name="logs/x.sqlog (file)").click()
        view.locator(".stored-trials").wait_for()
        said = view.locator(".results p").all_inner_texts()
        for sentence in account_of_file(logs / "logs" / "x.sqlog").sentences():
            assert " ".join(sentence.split()) in said
        assert any(sentence.startswith("The scenario reproduces it with cubic") for sentence in said)
        assert "qlog" in view.get_by_role("region", name="measurement").inner_text()
        assert view.locator(".two [data-panel='window']").count() == 2
        view.locator(".stored-trials button").first.click()
        shows(view, view.locator(".stored-trials code").first.inner_text())
        assert "the hashes are equal" in view.locator(".promise").inner_text()


def test_logs_captures_and_reports_of_iperf3_are_listed_and_nothing_else(tmp_path: Path) -> None:
    for name in ("a.qlog", "b.sqlog.gz", "c.PCAP", "d.pcapng"):
        (tmp_path / name).touch()
    (tmp_path / "e.json").write_text('{\n\t"start":\t{}}')
    (tmp_path / "f.json").write_text('{"end": {}}')
    (tmp_path / "g.csv").touch()
    (tmp_path / "h.qlog").symlink_to(tmp_path / "a.qlog")
    found = [entry["path"] for entry in listed(Folder.at(tmp_path))]
    assert found == ["a.qlog", "b.sqlog.gz", "c.PCAP", "d.pcapng", "e.json"]


def test_a_file_that_says_too_little_has_sentences_and_no_scenario(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        '{"start": {"connected": [{"local_host": "a", "local_port": 1, "remote_host": "b", "remote_port": 2,'
        ' "socket": 5}], "test_start": {"protocol": "TCP"}}, "intervals": [{"streams": [{"socket": 5, "start": 0,'
        ' "end": 1, "seconds": 1, "bytes": 1000000, "bits_per_second": 8000000, "sender": true}]}], "end": {}}'
    )
    found = opened(Folder.at(tmp_path), "a.json")
    assert found["scenarios"] == []
    assert len(found["sentences"]) > 1


@pytest.mark.parametrize("damage", [b"", b"{", b"\x1f\x8b\x08broken", b"\xd4\xc3\xb2\xa1" + bytes(30)])
def test_a_damaged_file_is_refused_with_its_name(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "a.qlog").write_bytes(damage)
    with pytest.raises(RequestError, match=r"a\.qlog"):
        opened(Folder.at(tmp_path), "a.qlog")
