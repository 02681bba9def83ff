"""Certificates for tests, signed by an authority of the test's own, and contexts that trust it."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from pathlib import Path

import trustme


@dataclass
class Authority:
    """Issues certificates into files of one folder."""

    folder: Path
    inner: trustme.CA = field(default_factory=trustme.CA)

    def issue(self, *names: str, file: str = "server") -> tuple[Path, Path]:
        """The files of a new certificate with its chain, and of its key; earlier ones of that name are replaced."""
        issued = self.inner.issue_cert(*names)
        certificate, key = self.folder / f"{file}.pem", self.folder / f"{file}.key"
        key.write_bytes(issued.private_key_pem.bytes())
        certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        return certificate, key

    @property
    def roots(self) -> Path:
        """The file of the authority itself."""
        path = self.folder / "authority.pem"
        self.inner.cert_pem.write_to_path(str(path))
        return path

    def client(self, *, name: str | None = None) -> ssl.SSLContext:
        """What a client needs to trust it; with *name* the client has a certificate too."""
        context = ssl.create_default_context()
        self.inner.configure_trust(context)
        if name is not None:
            self.inner.issue_cert(name).configure_cert(context)
        return context


def der(path: Path) -> bytes:
    """The first certificate of a file."""
    text, end, _ = path.read_text().partition("-----END CERTIFICATE-----")
    return ssl.PEM_cert_to_DER_cert(text + end)
