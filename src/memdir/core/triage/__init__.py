"""Triage: what in a conversation may be worth a memory, told without a model.

forms      how patterns are written down
typed      a person's own sentences, without what was pasted and what clients put in
phrases    requests per language, from phrases.toml
passing    questions, ephemera, jokes: nothing of that is kept
wishes     "remember", "forget", "from now on", in several languages
guidance   corrections; rules: what is always or never done; hints: objections, trouble, screens
customs    two things set against each other; sentences that speak of another one
languages  the same families in other languages, one file each
tastes     preferences, comparisons, agreement with a choice of the agent
facts      decisions; days: deadlines; places: systems outside, and who the person is
planted    wishes inside the output of tools, which nobody meant
odds       how likely a sentence is worth it, by the words it is made of
noticing   one pass over a conversation with all of these
drafts     signals made into drafts where no model does it; wording: the words of them
belonging  the sentences that go on with a signal
said_days  days by the day they were said on, as dates; day_words: the words for them

Linear in a bounded part of what was said.
"""

from memdir.core.triage.noticing import triage

__all__ = ["triage"]
