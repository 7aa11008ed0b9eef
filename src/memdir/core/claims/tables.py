"""What names look like: the endings of files, the tools of the trade, the folders of a machine."""

# Endings that make a bare word a file name. `log`, `key` and `env` do not: `console.log`.
_ENDINGS = """
astro bash bat c cc cfg cjs clj cmake conf cpp cs csproj css csv cts dart diff dockerfile docx dts
entitlements erl ex example exs fish fs fsproj gemspec gif go gql gradle graphql gz h hbs hcl hpp
hs html hxx ico ini ino ipynb java jl jpeg jpg js json json5 jsonc jsonl jsx kt kts less lock lua
m markdown md mdc mdx mjs mk ml mm mod mts nim nix patch pdf pem php pl plist png po podspec
prisma properties props proto ps1 psm1 puml py pyi pyx r rake rb rego resx rs rst sample sass
scala scm scss service sh sln sol sql sqlite storyboard sum sv svelte svg swift tar targets tcl
template tex tf tfvars tgz tmpl toml ts tsv tsx txt vbproj vim vue wasm webp xaml xcconfig xlsx
xml xsd yaml yml zig zip zsh
"""
ENDINGS = frozenset(_ENDINGS.split())

# Endings that only a path with a slash or a dotted name makes a file's.
_WEAK_ENDINGS = """
d db dev env in key local lock log map out pid prod service test
"""
WEAK_ENDINGS = frozenset(_WEAK_ENDINGS.split())

# Files without an ending.
_WHOLE_NAMES = """
Brewfile CMakeLists.txt CODEOWNERS Caddyfile Cartfile Containerfile Dockerfile Fastfile
GNUmakefile Gemfile Jenkinsfile Justfile LICENSE Makefile NOTICE Podfile Procfile Rakefile
Vagrantfile justfile
"""
WHOLE_NAMES = frozenset(_WHOLE_NAMES.split())

# Names that every second project has: that ours lost one says nothing of what a memory means.
_COMMON_NAMES = """
.dockerignore .editorconfig .env .env.example .env.local .gitignore .mcp.json .npmrc .nvmrc
__init__.py __main__.py agents.md api.py api.ts app app.js app.py app.ts app.tsx architecture.md
assets bin build build.rs build.sh build.yml cargo.lock cargo.toml changelog.md ci.yml claude.md
cli.py client.py client.ts compose.yaml compose.yml composer.json config config.js config.json
config.py config.toml config.ts config.yaml config.yml conftest.py constants.py constants.ts
contributing.md data deploy.sh design.md dist docker-compose.yaml docker-compose.yml dockerfile
docs eslint.config.js examples gemfile gemini.md go.mod go.sum index.css index.html index.js
index.md index.ts index.tsx install.sh jest.config.js lib lib.rs license main.go main.js main.py
main.rs main.ts makefile memory.md mod.rs models.py next.config.js notes.md package-lock.json
package.json plan.md pnpm-lock.yaml poetry.lock public pyproject.toml readme readme.md release.yml
requirements.txt routes.py routes.ts run.sh schema.py schema.sql schema.ts scripts security.md
server.js server.py server.ts settings.json settings.local.json settings.py setup.cfg setup.py
setup.sh skill.md spec.md src status.md tailwind.config.js tailwind.config.ts tasks.md test
test.js test.py test.sh test.ts test.yml tests todo.md tools tsconfig.json types.py types.ts
urls.py utils.js utils.py utils.ts uv.lock views.py vite.config.ts yarn.lock
"""
COMMON_NAMES = frozenset(_COMMON_NAMES.split())

# Folders of a machine, not of a repository.
_MACHINE = """
Applications Library Program System Users Volumes Windows bin boot dev etc home lib media mnt opt
private proc root run sbin sdcard srv sys tmp usr var workspace workspaces
"""
MACHINE = frozenset(_MACHINE.split())

# Folders whose content is made or local: git never had it for long, people still work with it.
_MADE = """
.cache .git .gradle .idea .next .pytest_cache .turbo .venv .worktrees DerivedData __pycache__
build coverage dist logs node_modules obj out target temp tmp vendor venv
"""
MADE = frozenset(_MADE.split())

# Programs that everybody has: a command that begins with one says nothing of this repository.
_TOOLS = """
./gradlew act adb alias ansible ansible-playbook apk apt apt-get artisan awk aws az bash bazel
biome black brew bun bundle bunx cabal cargo cat cd changeset chmod chown claude clojure cmake
code codex composer cosign cp curl cursor cypress dart date deno diff dnf docker docker-compose
dotnet drizzle-kit echo elixir emacs emulator env esbuild eslint exit export false fastlane find
fish flutter fly flyctl gcloud gdb gem gemini gh ghc git glab go gofmt golangci-lint goreleaser
gradle gradlew grep head helm heroku iex java javac jest journalctl jq just kill kotlin kubectl
launchctl lein lerna lldb ls lsof make mix mkdir mktemp mv mvn mvnw mypy mysql netlify ninja nix
node nohup nox npm npx nuget nx packer patch php pip pip3 pipx pkill playwright pnpm pod podman
poetry pre-commit prettier printf prisma ps psql pushd pytest python python3 rails rake redis-cli
return rg rm rollup rsync ruby ruff rustc rustup sbt scala scp screen sed semgrep set sh sleep
sort source sqlite3 ssh stack strace sudo supabase swift systemctl tail tar task tee terraform
test time timeout tmux touch tox trivy true ts-node tsc tsx turbo uniq unset unzip uv uvx vagrant
valgrind vercel vim vite vitest watch wc webpack wget which wrangler xargs xcodebuild xcrun yarn
yq yum zip zsh
"""
TOOLS = frozenset(_TOOLS.split())

# Programs that run what the repository declares.
_RUNNERS = """
bun composer just make npm pnpm task yarn
"""
RUNNERS = frozenset(_RUNNERS.split())

# Branches by their name alone.
_BRANCHES = """
HEAD develop main master trunk
"""
BRANCHES = frozenset(_BRANCHES.split())

# What names of branches begin with.
_PREFIXES = """
bugfix build chore ci claude codex dependabot docs experiment feat feature fix hotfix perf
refactor release renovate spike style test wip
"""
PREFIXES = frozenset(_PREFIXES.split())

# Frameworks that are called like a file.
_PRODUCTS = """
alpine.js angular.js backbone.js chart.js d3.js deno.js discord.js ember.js express.js moment.js
nest.js next.js node.js nuxt.js p5.js react.js solid.js three.js vue.js
"""
PRODUCTS = frozenset(_PRODUCTS.split())

# Endings of what is built, run or kept for oneself.
_ARTEFACTS = """
a apk bak cache class db dll dmg env exe gz ipa jar key log map o out pem pid pyc so sqlite sqlite3
tar tgz tmp vsix wasm whl zip
"""
ARTEFACTS = frozenset(_ARTEFACTS.split())
