"""What /v1/openapi.json says holds for whatever a generator sends."""

import json

import pytest

from memdir.server.team_api import OPENAPI, ROUTES

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
from hypothesis import HealthCheck, settings  # noqa: E402
from schemathesis.specs.openapi.checks import positive_data_acceptance  # noqa: E402

DOCUMENT = json.loads(OPENAPI.read_text())
EXAMPLES = 15
BEHIND = {"memories": "/{path}", "history": "/{path}", "proposals": "/{id}"}
SPACE = "documented"


def prepared() -> dict:
    """With a space that is there, and without tokens: other tests have those."""
    text = json.dumps({key: value for key, value in DOCUMENT.items() if key != "security"})
    document = json.loads(text)
    del document["components"]["securitySchemes"]
    for methods in document["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", []):
                if parameter["name"] == "space":
                    parameter["schema"] = {"enum": [SPACE]}
    return document


schema = schemathesis.openapi.from_dict(prepared())


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
def token(team) -> str:
    token = team.invite("generator", SPACE, "maintainer")
    team.push(token, SPACE, ("a.md", 0, "text of a memory"))
    proposal = {"items": [{"path": "p.md", "version": 0, "body": "x"}]}
    team.ask(token, f"/v1/spaces/{SPACE}/proposals", proposal)
    return token


@schema.parametrize()
@settings(max_examples=EXAMPLES, suppress_health_check=[*HealthCheck], deadline=None)
def test_the_server_keeps_its_document(case, team, token):
    case.call_and_validate(
        base_url=team.base,
        headers={"Authorization": f"Bearer {token}"},
        timeout=60,
        # No schema says what a secret is, or which names every system takes.
        excluded_checks=[positive_data_acceptance],
    )
