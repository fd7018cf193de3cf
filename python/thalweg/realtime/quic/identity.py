"""The certificate of a server, made on first use and kept in a file.

The file is PEM: a certificate, and its private key as PKCS #8. Clients know the certificate by its fingerprint,
the SHA-256 of its DER form, so it needs no issuer and no name in it matters.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from dataclasses import dataclass
from pathlib import Path

from thalweg import _native
from thalweg.base.errors import RequestError

_KEY = re.compile(r"-----BEGIN PRIVATE KEY-----\s*(.+?)\s*-----END PRIVATE KEY-----", re.DOTALL)
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


def default_identity_file() -> Path:
    """Where the identity of this user's servers is kept."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "thalweg" / "quic-identity.pem"


@dataclass(frozen=True)
class Identity:
    """A certificate with its key, both in DER."""

    certificate: bytes
    key: bytes
    fingerprint: str

    @staticmethod
    def make() -> Identity:
        """A new one. Raises RequestError if the system gives no random numbers."""
        try:
            certificate, key = _native.make_quic_identity()
            return Identity(certificate, key, _native.quic_fingerprint(certificate, key))
        except _native.QuicRefused as error:
            raise RequestError(str(error)) from None

    @staticmethod
    def read(file: Path) -> Identity:
        """The identity in a file. Raises RequestError if it cannot be read, or is none."""
        try:
            text = file.read_text(encoding="ascii")
        except (OSError, ValueError) as error:
            raise RequestError(f"cannot read the identity in {file}: {_why(error)}") from None
        certificate, key = _CERTIFICATE.search(text), _KEY.search(text)
        if not (certificate and key):
            raise RequestError(f"{file} is not an identity; expected certificate and private key (PKCS #8) in PEM")
        import ssl  # noqa: PLC0415 - OpenSSL takes a while to load

        try:
            parts = ssl.PEM_cert_to_DER_cert(certificate[0]), base64.b64decode(key[1])
            return Identity(*parts, _native.quic_fingerprint(*parts))
        except (ValueError, binascii.Error, _native.QuicRefused) as error:
            raise RequestError(f"cannot use the identity in {file}: {error}") from None

    @staticmethod
    def of(file: Path) -> tuple[Identity, bool]:
        """The identity in a file, which is made if it does not exist; and whether it was. Raises RequestError."""
        if file.exists():
            return Identity.read(file), False
        made = Identity.make()
        made.write(file)
        return made, True

    def write(self, file: Path) -> None:
        """Writes a new file, which only its owner may read. Raises RequestError."""
        import ssl  # noqa: PLC0415 - as above

        key = base64.encodebytes(self.key).decode().strip()
        certificate = ssl.DER_cert_to_PEM_cert(self.certificate)
        text = f"{certificate}-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\n"
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            # Fails if there is such a file by now.
            file.touch(0o600, exist_ok=False)
            try:
                file.write_text(text, encoding="ascii")
            except OSError:
                file.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise RequestError(f"cannot write the identity to {file}: {_why(error)}") from None


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
