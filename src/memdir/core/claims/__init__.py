"""Claims: find them in a memory's text, say what to look up, judge them by what was seen.

blocks, context    the text around a span: paragraphs, sentences, headings
forms, names, tables    what a span is by its form, and the names in it
asides             why a span is no claim on this repository now
finding, judging   the two halves; between them somebody looks
bearing, evidence  what makes it true, what makes it stale
"""

from memdir.core.claims.finding import find_claims
from memdir.core.claims.judging import judge, wanted

__all__ = ["find_claims", "judge", "wanted"]
