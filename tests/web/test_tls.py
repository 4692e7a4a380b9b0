"""Over TLS: a page comes with HSTS, and the cookie goes nowhere else."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from adjudge.settings import Settings
from adjudge.store.store import Store
from adjudge.web.app import create_app
from adjudge.web.guard import Access, Doors
from adjudge.web.serving import Serving, config_of

from .conftest import TOKEN


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, secret = tmp_path / "certificate.pem", tmp_path / "key.pem"
    pem.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return pem, secret


def test_a_page_over_tls_has_hsts_and_a_cookie_for_tls_alone(store: Store, certificate: tuple[Path, Path]) -> None:
    serving = Serving(certificate=certificate[0], key=certificate[1])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        doors = Doors()
        access = Access(frozenset({"127.0.0.1"}), TOKEN, serving.secure, port)
        server = uvicorn.Server(config_of(create_app(store, Settings(), access, doors), serving))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            trusting = ssl.create_default_context(cafile=str(certificate[0]))
            with httpx.Client(base_url=f"https://127.0.0.1:{port}", verify=trusting, timeout=30) as client:
                entered = client.get("/enter", params={"code": doors.code})
                page = client.get("/runs")
                named = client.put("/api/reviewer", json={"name": "Ada"}, headers={"x-adjudge": "1"})
            with pytest.raises(httpx.TransportError):
                httpx.get(f"http://127.0.0.1:{port}/runs", timeout=5)
        finally:
            server.should_exit = True
            thread.join(10)
    cookie = entered.headers["set-cookie"]
    assert cookie.startswith(f"__Host-adjudge-{port}={TOKEN}")
    assert all(part in cookie for part in ("Secure", "HttpOnly", "SameSite=strict", "Path=/"))
    assert page.status_code == 200
    assert page.headers["strict-transport-security"] == "max-age=31536000"
    assert named.headers["set-cookie"].startswith(f"__Host-adjudge-{port}-reviewer=Ada")
    assert "Secure" in named.headers["set-cookie"]
