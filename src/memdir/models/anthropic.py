"""Models behind the Anthropic API: `anthropic:claude-haiku-4-5`."""

from __future__ import annotations

from collections.abc import Mapping

from memdir.models.api import NOTHING, Api, Opened, http_client_for_model, model_api_key
from memdir.models.model import ModelUnavailable

KEY = "ANTHROPIC_API_KEY"
BASE_URL = "https://api.anthropic.com"
# Cache the schema with the system prompt, and the newest text, which the next turn repeats; the
# first text has its own mark.
CACHING = {"anthropic_cache_instructions": True, "anthropic_cache_messages": True}
DEFAULT = "claude-haiku-4-5"


def open_model(name: str, base_url: str, environ: Mapping[str, str]) -> Api:
    """Imports and sends nothing before the first question."""
    name, url = name or DEFAULT, base_url or BASE_URL

    def connect() -> Opened:
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        http = http_client_for_model(DefaultAsyncHttpxClient)
        client = AsyncAnthropic(api_key=key, base_url=url, max_retries=0, http_client=http)
        return client, AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))

    key = model_api_key(KEY, url, environ)
    if not key:
        raise ModelUnavailable(f"anthropic: {KEY} is not set", next=f"set {KEY}", usage=NOTHING)
    modules = ("anthropic", "pydantic_ai.models.anthropic")
    return Api(f"anthropic:{name}", modules, "tool", connect, CACHING)
