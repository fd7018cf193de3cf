"""The build of ngtcp2 of Debian, of examples/stacks; what each stack does is in test_every_stack.py."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from stacks.built import ROOT

pytestmark = pytest.mark.soak

SOURCE = ROOT / "examples" / "stacks" / "ngtcp2"


@pytest.mark.parametrize(("version", "is_skipped"), [("0x000c01", False), ("0x010000", True), ("0x010b00", True)])
def test_headers_of_another_interface_are_as_good_as_none(tmp_path: Path, version: str, is_skipped: bool) -> None:
    for name in ("ngtcp2/ngtcp2.h", "ngtcp2/ngtcp2_crypto_gnutls.h", "gnutls/gnutls.h"):
        header = tmp_path / name
        header.parent.mkdir(exist_ok=True)
        header.write_text(f"#define NGTCP2_VERSION_NUM {version}\n")
    no_packages = tmp_path / "apt-get"
    no_packages.write_text("#!/bin/sh\nexit 1\n")
    no_packages.chmod(0o755)
    done = subprocess.run(
        ["make", "-C", str(SOURCE), f"TARGET={tmp_path / 'out'}", f"CC=cc -I{tmp_path}"],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    # These headers declare nothing: what is not skipped does not compile.
    assert ("SKIPPED the stack ngtcp2" in done.stdout) == (done.returncode == 0) == is_skipped, done
    assert not (tmp_path / "out" / "libngtcp2.so").exists()
