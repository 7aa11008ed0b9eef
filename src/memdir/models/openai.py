"""Models behind the OpenAI API, or a compatible server: `openai:gpt-5-mini`.

Set `model.base_url` for a local one: llama.cpp, Ollama, vLLM, LM Studio.
"""

from __future__ import annotations

from collections.abc import Mapping

from memdir.models.api import NOTHING, Api, Opened, http_client_for_model, model_api_key
from memdir.models.model import ModelUnavailable

KEY = "OPENAI_API_KEY"
BASE_URL = "https://api.openai.com/v1"
DEFAULT = "gpt-5-mini"
NO_KEY = "none"  # the package needs some text; local servers need no key


def open_model(name: str, base_url: str, environ: Mapping[str, str]) -> Api:
    """Imports and sends nothing before the first question."""
    name, url = name or DEFAULT, base_url or BASE_URL

    def connect() -> Opened:
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        http = http_client_for_model(DefaultAsyncHttpxClient)
        client = AsyncOpenAI(api_key=key or NO_KEY, base_url=url, max_retries=0, http_client=http)
        return client, OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client))

    key = model_api_key(KEY, url, environ)
    if not key and not base_url:
        hint = f"set {KEY}, or model.base_url for a server of your own"
        raise ModelUnavailable(f"openai: {KEY} is not set", next=hint, usage=NOTHING)
    return Api(f"openai:{name}", ("openai", "pydantic_ai.models.openai"), "native", connect)
