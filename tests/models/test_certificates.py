"""A proxy with a certificate of its own: a sentence says what to set, and setting it helps."""

import importlib.util
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.helpers.terminal import memdir, process

pytestmark = [
    pytest.mark.usefixtures("project"),
    pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed"),
    pytest.mark.skipif(
        importlib.util.find_spec("openai") is None, reason="pip install 'memdir[llm]' is needed"
    ),
]


class Refuses(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(403)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    words += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made = subprocess.run([*words, "-keyout", key, "-out", certificate], capture_output=True)
    assert made.returncode == 0, made.stderr
    return certificate


@pytest.fixture
def address(authority: Path) -> Iterator[str]:
    server = HTTPServer(("localhost", 0), Refuses)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority, authority.with_name("key.pem"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"https://localhost:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_certificate_of_ones_own_is_named_and_can_be_trusted(address, authority):
    memdir("remember", "Use uv, never pip, to install packages.")
    told = {
        "OPENAI_API_KEY": "k",
        "MEMDIR_MODEL": "openai:x",
        "MEMDIR_MODEL_BASE_URL": address,
        "MEMDIR_MODEL_TIMEOUT": "60",
    }
    words = ("recall", "how do we install packages with uv", "--model")
    refused = process(*words, **told)
    said = " ".join(refused.stderr.split())
    assert "is not trusted" in said and "SSL_CERT_FILE=FILE" in said and "Use uv" in refused.text
    trusted = process(*words, **told, SSL_CERT_FILE=str(authority))
    assert "may not use this model" in trusted.stderr
