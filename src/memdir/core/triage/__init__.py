"""Triage: what in a conversation may be worth a memory, told without a model.

forms      how patterns are written down
prose      a person's own sentences, without what was pasted and what clients put in
passing    questions, ephemera, jokes: nothing of that is kept
wishes     "remember", "forget", "from now on", in several languages
guidance   corrections; rules: what is always or never done; hints: signs that add up
customs    how things are done here; standing: what is so and stays so
languages  the same families in other languages, one file each
tastes     preferences, comparisons, agreement with a choice of the agent
facts      decisions; days: deadlines; places: systems outside, and who the person is
planted    wishes inside the output of tools, which nobody meant
noticing   one pass over a conversation with all of these
drafts     signals made into drafts where no model does it; wording: the words of them

It errs on the side of silence: a memory nobody needed costs more than one said twice. Linear.
"""

from memdir.core.triage.noticing import triage

__all__ = ["triage"]
