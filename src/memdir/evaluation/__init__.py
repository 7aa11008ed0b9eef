"""How good memory is here: figures with their n, on public test sets and on one's own store.

metrics                          what is counted
sets corpus locomo longmemeval   prompts with the memories that belong to them
recall answers own               the evaluations
report page                      how the figures are told
"""
