"""The certificate that a bench gives to servers: self-signed, of ECDSA on P-256, which every TLS library takes."""

from __future__ import annotations

import subprocess
from pathlib import Path

from thalweg.base.errors import RequestError

_NAMES = "DNS:server,DNS:server4,DNS:server6,DNS:localhost,IP:198.51.100.2"
"""The names of the endpoint contract, and the address of the first host of programs on the side of servers."""


def make_certificate(certificate: Path, key: Path) -> None:
    """Writes both as PEM, by OpenSSL. Raises RequestError if there is none."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "3650", "-subj", "/CN=server", "-addext", f"subjectAltName={_NAMES}"]
    try:
        subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    except FileNotFoundError:
        raise RequestError("a certificate for servers requires the program openssl") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip().splitlines()
        raise RequestError(f"openssl makes no certificate: {said[-1] if said else error}") from None
