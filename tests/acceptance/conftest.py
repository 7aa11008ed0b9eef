"""The cases are for `make acceptance` alone: `make test` needs no client."""

import os

collect_ignore = [] if os.environ.get("ACCEPTANCE_CLIENT") else ["cases"]
