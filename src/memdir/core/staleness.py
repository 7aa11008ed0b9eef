"""How far a memory has aged: 0 is fresh, 100 worn out. A score labels, it never hides."""

REVIEW = 50  # points; reached after one half-life
PRUNE = 75  # points; reached after two half-lives


def score(age_days: float, half_life_days: float) -> int:
    """Points of exponential decay (seed 000); a memory from the future is fresh."""
    if age_days <= 0:
        return 0
    # 2^-x is e^(-x ln 2), but exact for whole half-lives, where the bands begin.
    return int(100 * (1 - 2.0 ** (-age_days / half_life_days)))


def action(score: int) -> str:
    """`keep`, `review` or `prune`: what an audit proposes, never what it does by itself."""
    if score < REVIEW:
        return "keep"
    return "review" if score < PRUNE else "prune"
