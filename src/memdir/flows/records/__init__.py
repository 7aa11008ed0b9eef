"""Structured records: the same stores, locks, history and undo, with the rules of records.

placing     which record somebody means, what the store's settings say
saving      what a person says: created, or changed where it stands
writing     create, update, and the ways between active, retired and archived
indexing    index.md: in step with the records, or where it is not
healing     what a rename that was cut off left behind
tidying     the rolling window of session summaries, retention, and what is purged
asking      which record new information belongs to; search; how the store stands
intents     what a model wants, read strictly
batching    intents → decided by the table → one change
guarding    no secret comes in
triaging    what a conversation may hold
holding     drafts without a model, until a person says yes
exchanging  records from elsewhere, and as Markdown memories
"""
