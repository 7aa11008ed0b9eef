"""A hook that writes down what it is given: `python recorder.py FILE EVENT [CONTEXT]`.

It keeps standard input only: the environment of a hook holds keys.
"""

import json
import os
import sys

if __name__ == "__main__":
    file, event, context = sys.argv[1:4]
    given = json.loads(sys.stdin.buffer.read())
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(handle, json.dumps(given).encode() + b"\n")  # at once: several may run side by side
    os.close(handle)
    if context:
        answer = {"hookEventName": event, "additionalContext": context}
        print(json.dumps({"hookSpecificOutput": answer}))
