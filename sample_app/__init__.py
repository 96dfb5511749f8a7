"""A job / outbox / inbox application on SQLite: a reference to read and to copy.

A document job produces a report, a person approves publishing it, a ticket is created in
somebody else's service, and the owner is notified through an outbox. `app.db`, `receiver.db`
and `tickets.db` stand for three systems that share no transaction.

Every interesting instant is an audit event, `sys.audit("sample_app.<thing>.<what happened>", id)`.
"""
