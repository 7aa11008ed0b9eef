"""What /v1/openapi.json says holds for whatever a generator sends."""

import json

import pytest

from memdir.server.api import OPENAPI, ROUTES
from tests.helpers.team import Team

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
from hypothesis import HealthCheck, settings  # noqa: E402
from schemathesis.specs.openapi.checks import positive_data_acceptance  # noqa: E402

DOCUMENT = json.loads(OPENAPI.read_text())
EXAMPLES = 15
BEHIND = {"memories": "/{path}", "history": "/{path}", "proposals": "/{id}"}
schema = schemathesis.openapi.from_dict(DOCUMENT)


def test_every_route_stands_in_the_document_with_its_methods():
    said = {
        (path.removeprefix("/v1/spaces/{space}/"), method.upper())
        for path, methods in DOCUMENT["paths"].items()
        for method in methods
    }
    ours = {
        (word + (BEHIND[word] if behind else ""), method)
        for (word, behind), methods in ROUTES.items()
        for method in methods
    }
    assert said == ours | {("/healthz", "GET"), ("/v1/spaces", "GET")}


def test_the_document_is_served(team):
    assert team.ask("", "/v1/openapi.json").json == DOCUMENT


@pytest.fixture(scope="module")
def member(team) -> tuple[Team, str, str]:
    space = team.space(ann="maintainer")
    token = team.tokens[f"ann@{space}"]
    team.push(token, space, ("a.md", 0, "text of a memory"))
    team.ask(
        token,
        f"/v1/spaces/{space}/proposals",
        {"items": [{"path": "p.md", "version": 0, "body": "x"}]},
    )
    return team, space, token


@schema.parametrize()
@settings(max_examples=EXAMPLES, suppress_health_check=[*HealthCheck], deadline=None)
def test_the_server_keeps_its_document(case, member):
    team, space, token = member
    if "space" in (case.path_parameters or {}):
        case.path_parameters["space"] = space  # else nearly every answer is a 404
    case.call_and_validate(
        base_url=team.base,
        headers={"Authorization": f"Bearer {token}"},
        timeout=60,
        # No schema says what a secret is, or which names every system takes.
        excluded_checks=[positive_data_acceptance],
    )
