"""Benches for those who develop memdir: `python -m evals BENCH --data DIR [--json]`.

recall      recall beside simple searches (baselines), on a set of labelled prompts
claims      verdicts on labelled claims; claims_set reads them, listing is their repository
pairs       memories that say the same, or disagree with their own description
capture     which messages ask to be remembered
type_guess  the type that `memdir remember` guesses

They run from a checkout and are no part of the package. `memdir eval` measures a user's own store.
"""
