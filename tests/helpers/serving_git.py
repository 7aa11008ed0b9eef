"""A git repository over http on loopback, by git's own program for it."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def serve_git(repository: str, *, may_push: bool = True) -> Iterator[str]:
    top, name = os.path.split(repository)
    allowed = str(may_push).lower()
    subprocess.run(["git", "-C", repository, "config", "http.receivepack", allowed], check=True)

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            path, _, query = self.path.partition("?")
            length = self.headers.get("Content-Length")
            body = self.rfile.read(int(length)) if length else self._chunks()
            env = {
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": top,
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "REMOTE_USER": "ann",
            }
            run = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True)
            head, _, rest = run.stdout.partition(b"\r\n\r\n")
            rows = [line.split(": ", 1) for line in head.decode().split("\r\n")]
            status = [value for key, value in rows if key == "Status"]
            self.send_response(int(status[0].split()[0]) if status else 200)
            for key, value in rows:
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            self.wfile.write(rest)

        def _chunks(self) -> bytes:
            data = b""
            if self.headers.get("Transfer-Encoding") == "chunked":
                while size := int(self.rfile.readline(), 16):
                    data += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            return data

        def log_message(self, *_: object) -> None:
            """Says nothing."""

        do_GET = do_POST = answer

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/{name}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
