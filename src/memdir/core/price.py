"""What tokens cost, where that is known: list prices in US dollars, as published in late 2025.

They change, and contracts differ: a figure that a model gives itself goes before ours.
"""

from __future__ import annotations

from memdir.core.model import Usage

MILLION = 1_000_000
# Of a million tokens: input, output, input that a cache gave. The longest name that fits counts.
PRICES = {
    "anthropic:claude-haiku-4-5": (1.00, 5.00, 0.10),
    "anthropic:claude-sonnet-4": (3.00, 15.00, 0.30),
    "anthropic:claude-opus-4-5": (5.00, 25.00, 0.50),
    "openai:gpt-5-nano": (0.05, 0.40, 0.005),
    "openai:gpt-5-mini": (0.25, 2.00, 0.025),
}


def cost(model: str, usage: Usage) -> float | None:
    """What a call cost in US dollars; None where nobody knows."""
    if usage.cost is not None:
        return usage.cost
    fitting = [name for name in PRICES if model == name or model.startswith(f"{name}-")]
    if not fitting:
        return None
    fresh, made, cached = PRICES[max(fitting, key=len)]
    total = usage.input_tokens * fresh + usage.output_tokens * made + usage.cached_tokens * cached
    return total / MILLION
