"""The hot path as a process: open a store, read every header, load the index.

Without a folder it stops after the imports: the floor to measure against.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src"))

from memdir.format.index import cut_index
from memdir.hot import memory
from memdir.hot.layout import Markdown

if len(sys.argv) > 1:
    store = Markdown(sys.argv[1])
    memories = store.scan().memories
    loaded = cut_index(memory.decode(store.index() or b""))
    print(len(memories), loaded.lines)
