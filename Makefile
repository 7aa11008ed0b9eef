# Needs Python 3.11 or newer, git and make; everything else is installed into .venv once.
.DEFAULT_GOAL := help
.PHONY: help install uninstall demo quick test check bench figures peers faults faults-full reliability-report integrations-test acceptance acceptance-client lock clean .venv pictures server-test docs dist

PYTHON ?=
ARGS ?=
export UV_COMPILE_BYTECODE := 1
export UV_SYSTEM_CERTS := 1

READY := .venv/.ready
RUN := PYTHONPATH=$(CURDIR) .venv/bin/python
LOCK := .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"

# A `python3` on PATH may be a shim without a version behind it, or lack venv: each one is tried.
FIND_PYTHON = for python in $(PYTHON) python3 python3.11 python3.12 python3.13 python3.14 python ''; do \
	  "$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
	done; [ "$$python" ] || { echo 'No Python 3.11 or newer with venv found.' \
	  'Install one, or run: make PYTHON=/path/to/python3' >&2; exit 1; }
OURS := app="$$HOME/.local/share/memdir/installed" command="$$HOME/.local/bin/memdir"

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | while IFS='	' read -r name what; do \
	  printf '  make %-18s %s\n' "$$name" "$$what"; done

install: ## install memdir for you, without uv and pipx: ~/.local/bin/memdir
	@$(FIND_PYTHON); $(OURS); \
	if [ -e "$$command" ] && [ "$$(readlink "$$command")" != "$$app/bin/memdir" ]; then \
	  echo "$$command is there already. Remove it first, as it was installed: uv tool uninstall memdir, or" \
	    'pipx uninstall memdir' >&2; exit 1; fi; \
	"$$python" -m venv "$$app" && "$$app/bin/python" -m pip install --quiet . && \
	mkdir -p "$${command%/*}" && ln -sf "$$app/bin/memdir" "$$command" && "$$command" --version && \
	case ":$$PATH:" in *":$${command%/*}:"*) ;; \
	  *) echo 'Next: put it on your PATH: export PATH="$$HOME/.local/bin:$$PATH"';; esac

uninstall: ## remove what make install installed; memories and history stay
	@$(OURS); rm -rf "$$app"; rmdir "$${app%/*}" 2>/dev/null || true; \
	[ "$$(readlink "$$command")" != "$$app/bin/memdir" ] || rm "$$command"

demo: $(READY) ## show what memdir does, in a throw-away home
	@$(RUN) examples/demo.py $(ARGS)

quick: $(READY) ## on save: lint, types, and tests of the packages you changed for some seconds
	@.venv/bin/ruff check -q . && .venv/bin/mypy | tail -20
	@MEMDIR_QUICK_SECONDS=9 .venv/bin/pytest -n auto --ff -m "not slow" $$(git status --porcelain | \
	    sed -nE 's#.*(src/memdir|tests)/([a-z_]+)/.*#tests/\2#p' | sort -u | \
	    xargs -r ls -d 2>/dev/null) $(ARGS)

test: $(READY) ## run the tests (ARGS="-k name" chooses some)
	@.venv/bin/pytest -n auto $(ARGS)

check: $(READY) ## format, lint, types, imports, docs
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports --no-logo --no-cache
	.venv/bin/python docs/generate.py --check
	.venv/bin/pytest tests/self/test_readme.py tests/self/test_features.py

server-test: $(READY) ## install PostgreSQL where root may (apt-get), and test the team server
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && apt-get install -y -q postgresql; } || \
	  { echo 'Install PostgreSQL 15 or newer (package postgresql), then run this again.' >&2; exit 1; }
	@.venv/bin/pytest -n auto tests/server $(ARGS)

bench: $(READY) ## measure speed
	@$(RUN) benchmarks/run.py $(ARGS)

figures: $(READY) ## measure everything, write docs/figures.md (15 minutes, a quiet machine)
	@$(RUN) benchmarks/figures.py --page docs/figures.md $(ARGS)

peers: $(READY) ## measure other memories beside memdir, write docs/compare.md
	@$(RUN) benchmarks/peers.py --page docs/compare.md --json docs/compare.json $(ARGS)

faults: $(READY) ## kill, fill the disk, race: the short run
	@$(RUN) tests/faults/run.py --quick $(ARGS)

reliability-report: $(READY) ## break the store in every way, write docs/reliability.md
	@$(RUN) tests/faults/run.py --quick --rows .venv/reliability.json \
	    --page docs/reliability.md $(ARGS)

faults-full: $(READY) ## the same for every crash point; takes long
	@$(RUN) tests/faults/run.py --full $(ARGS)

integrations-test: $(READY) ## run the adapters with the real frameworks, in .venv-integrations
	@test -x .venv-integrations/bin/python || .venv/bin/python -m venv .venv-integrations
	@.venv/bin/uv pip install --quiet --python .venv-integrations/bin/python -r requirements/integrations.in -e .
	@.venv-integrations/bin/mypy src/memdir/integrations
	@.venv-integrations/bin/pytest -n 2 tests/integrations $(ARGS)

acceptance: $(READY) ## run the real client against a scripted API, fenced in
	@$(RUN) tests/acceptance/run.py -n auto $(if $(VERSION),--version $(VERSION)) $(ARGS)

acceptance-client: $(READY) ## install that client (VERSION=2.1.325) outside of the tree
	@$(RUN) -m tests.acceptance.client $(VERSION)

pictures: $(READY) ## make the pictures of the README; needs Chromium and chromedriver
	@$(RUN) docs/pictures/make.py

docs: $(READY) ## build the documents as a website into build/site; every link is checked
	@.venv/bin/python docs/generate.py --check
	@.venv/bin/python docs/site.py

dist: $(READY) ## build wheel and sdist into dist/, check them, and install, run and uninstall them
	@$(RUN) tests/self/dist.py $(ARGS)

lock: $(READY) ## pin the development packages by hash
	$(LOCK) --upgrade -o requirements/dev.txt requirements/dev.in pyproject.toml
	echo uv | $(LOCK) --upgrade -o requirements/uv.txt -
	.venv/bin/python -m pip download -q --no-deps -d build/lock \
	  "$$(sed -n 's/^\(click==[0-9.]*\).*/\1/p' requirements/dev.txt)" && mv build/lock/click-*.whl plugin/lib/click.whl

clean: ## remove .venv, caches and build output
	rm -rf .venv .venv-integrations .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find src tests examples benchmarks evals -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

.venv: $(READY)

.venv/bin/python:
	@$(FIND_PYTHON); "$$python" -m venv .venv

$(READY): pyproject.toml requirements/dev.txt requirements/uv.txt | .venv/bin/python
	@echo 'Installing the development packages into .venv (once)'
	@{ .venv/bin/python -m pip install --quiet --require-hashes -r requirements/uv.txt && \
	   .venv/bin/uv pip install --quiet --python .venv/bin/python --require-hashes -r requirements/dev.txt && \
	   .venv/bin/uv pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation -e .; } || \
	 { echo 'uv did not work here; trying pip, which takes longer' && \
	   .venv/bin/python -m pip install --quiet --require-hashes -r requirements/dev.txt && \
	   .venv/bin/python -m pip install --quiet --no-deps --no-build-isolation -e .; }
	@touch $@
