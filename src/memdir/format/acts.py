"""What people call an act in prose, and the commands that do it."""

from __future__ import annotations

from memdir.hot.guard import WITHIN
from memdir.text import pattern

# What people mean by tests, by deploying and by destructive commands of git.
TEST_COMMANDS = (
    *("pytest", "npm test", "npm run test", "pnpm test", "yarn test", "go test", "cargo test"),
    *("mvn test", "gradle test", "make test", "jest", "vitest", "dotnet test", "tox"),
)
DEPLOY_COMMANDS = (
    *("vercel", "fly deploy", "firebase deploy", "wrangler deploy", "serverless deploy"),
    *("kubectl apply", "helm upgrade", "terraform apply", "npm run deploy", "make deploy"),
    *("./deploy.sh", "cdk deploy", "gcloud app deploy", "railway up", "netlify deploy"),
)
BRANCHES = ("main", "master", "production", "prod", "develop", "trunk")
DESTRUCTIVE_GIT = (
    *("git reset --hard", "git checkout --", "git checkout .", "git restore", "git clean -f"),
    *("git push --force", "git push --force-with-lease", "git branch -D", "git stash drop"),
    *("git stash clear", "git rebase", "git commit --amend"),
)
ACT = (
    r"(?:(?:(?:creat|mak|open)(?:e|ing)\s+(?:an?\s+|any\s+|new\s+){0,2})"
    r"(?:git commits?|commits?|PRs?|pull requests?|(?:git )?branch(?:es)?)|"
    r"(?:add|includ|append)(?:e|ing)?\s+(?:\w+\s+or\s+)?(?:an?\s+|any\s+|the\s+)?[“\"]?co-authored(?:-by|\s+by)?\b"
    r"(?:[- :]?(?:lines?|trailers?|by|claude|footers?|tags?)\b)*|"
    r"run(?:ning)?\s+(?:the\s+|any\s+|our\s+)?(?:unit\s+|full\s+)?(?:tests?|test suite)|"
    r"deploy(?:ing)?|"
    r"(?:delet|remov)(?:e|ing)\s+(?:any\s+|the\s+|user\s+)?files?|"
    r"merg(?:e|ing)\s+(?:an?\s+|any\s+|the\s+)?(?:PRs?|pull requests?)|"
    r"(?:git )?(?:force[- ]push(?:ing)?|commits|commit(?:ting)?|push(?:ing)?|merg(?:e|ing)|"
    r"rebas(?:e|ing)|stash(?:ing)?|amend(?:ing)?))\b"
)
_COMMANDS = (
    ("co-auth", (f"git commit {WITHIN}co-authored-by",)),
    ("branch", ("git checkout -b", "git switch -c")),
    (r"run\w* .*test", TEST_COMMANDS),
    ("deploy", DEPLOY_COMMANDS),
    ("file", ("rm", "git rm")),
    ("merg.*(?:pr|pull)", ("gh pr merge",)),
    (r"\bpr|pull", ("gh pr create",)),
    ("force", ("git push --force", "git push --force-with-lease")),
    ("amend", ("git commit --amend",)),
    *((verb, (f"git {verb}",)) for verb in ("commit", "push", "stash")),
    ("merg", ("git merge",)),
    ("rebas", ("git rebase",)),
)
# Programs that a single word in backticks may mean; another single word may be a name in the code.
_PROGRAMS_TEXT = """
adb alembic ansible apt apt-get artisan aws awk az bash brew bun bundle cargo cat cd chmod chown
claude cmake composer conda cp curl dd deno docker docker-compose dotnet eslint find flutter
gcloud gh git go gradle grep head helm java jest jq just kill killall kubectl ln ls make mv mvn mypy
mysql nano nc node nox npm npx nvm perl php pip pip3 pipenv pkill pm2 pnpm podman poetry
prettier psql pulumi pytest python python3 rake reboot redis-cli rg rm rsync ruby ruff rustup
scp sed serverless sh shutdown sleep sqlite3 ssh sudo svn systemctl tail tee terraform tox touch
truncate tsc uv uvx vi vim virtualenv vitest wget xargs yarn yq prisma supabase rails wrangler
vercel fly heroku firebase eas expo drizzle-kit knex sequelize typeorm flyway liquibase bazel nx
turbo lerna dropdb createdb mongo mongosh
"""
PROGRAMS = frozenset(_PROGRAMS_TEXT.split())
# Programs whose names are English words: without backticks, only after "run" or with a flag.
_WORDS_TOO_TEXT = """
bun cat claude expo find fly go head just kill make node rails rake sleep tail touch
"""
WORDS_TOO = frozenset(_WORDS_TOO_TEXT.split())
_ENGLISH_TEXT = """
a an and any are as at because before but by command commands directly during every except for
from if in instead into is it its manually of on only or outside since so than that the then there
this to unless until when while with without you your ever again anywhere here yourself
"""
ENGLISH = frozenset(_ENGLISH_TEXT.split())
DESTRUCTIVE = pattern(
    r"(?i)\b(?:(?:any|all|other|potentially|destructive|dangerous|irreversible|"
    r"history[- ]rewriting)[\s/,]+(?:or\s+)?)*"
    r"(?:destructive|irreversible|dangerous|history[- ]rewriting)[\s/]+"
    r"(?:\w+\s+)?(?:commands?|operations?|actions?)(?P<list>\s*\([^()]*\))?"
)
INSTEAD = pattern(
    r"(?i)(?P<use>\buse\s+(?:the\s+)?[*_]*\S+[*_]*(?:\s+\([^()]*\)|\s+tool)?),?\s+"
    r"(?:instead of|rather than|and not|not)\s+(?:(?:using|running|bare|raw|plain|bash)\s+)*"
    r"(?P<what>[*_]*(?:⟦\d+⟧|[a-z][\w-]*)[*_]*"
    r"(?:(?:,\s*(?:or\s+|and\s+)?|\s+or\s+|\s+and\s+|/)(?:⟦\d+⟧|[a-z][\w-]*))*)"
    r"(?P<end>\s*(?:$|[.,;:!)(—–]|\bfor\b|\bto\b|\bin\b|\bwhen\b))"
)
WORD_OR_MARK = pattern(r"⟦\d+⟧|[a-z][\w-]*")
ANY_OF = pattern(
    r"(?i)(?:(?<=\bany )(?:[a-z]+-[a-z]+\s+)?|(?<=\brun )|(?<=\buse ))"
    r"([a-z][\w-]*)\s+commands?\b(?!\s*\()"
)
# Other words for "never".
NEVER = pattern(
    r"(?i)\b(?:not to(?= (?:run|use|execute)\b)|should not|shouldn['’]t|shall not|"
    r"(?:is |are )?not (?:allowed|permitted) to"
    r"|(?:is |are )?forbidden (?:to|from)|(?:is |are )?prohibited from|refrain from"
    r"|under no circumstances|at no point)\b"
)


def commands_of_act(verb: str) -> tuple[str, ...]:
    return next(commands for form, commands in _COMMANDS if pattern(form).search(verb))
