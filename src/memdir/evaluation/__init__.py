"""How good memory is here: figures with their n, on public test sets and on one's own store.

metrics                          what is counted
sets corpus locomo longmemeval   prompts with the memories that belong to them
baselines                        simple searches that ours must beat in the same run
recall answers own               the evaluations
claims claims_set pairs pairs_*  claims about code, memories that say the same
report page html                 how the figures are told
"""
