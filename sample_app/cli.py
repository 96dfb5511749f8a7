"""`python -m sample_app`: the app on a directory, one command for each act."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

from . import (
    approvals,
    backup,
    cancel,
    db,
    dead_letters,
    demo,
    editing,
    events,
    information,
    jobs,
    migrations,
    outbox,
    reaper,
    reconcile,
    resolve,
    retention,
    serving,
    settings,
    status,
    ticket_desk,
    worker,
)
from .errors import AppError, SafeToRetry, one_line
from .payloads import key_of, parse
from .settings import Settings
from .ticket_client import TicketClient, TicketRefused

_NAMES = [field.name for field in fields(Settings)]

Command = Callable[[argparse.Namespace], None]
Commands = argparse._SubParsersAction  # the type has no public name


def main(argv: list[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    try:
        args.act(args)
    except (AppError, OSError, SafeToRetry, TicketRefused) as error:
        print(f"sample_app: {one_line(error)}", file=sys.stderr)
        return 1
    return 0


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sample_app", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("demo", help="play the stories").set_defaults(act=lambda _: demo.main())
    _add_work(commands)
    _add_people(commands)
    _add_repair(commands)
    _add_upkeep(commands)
    return parser


def _add_work(commands: Commands[argparse.ArgumentParser]) -> None:
    _add(commands, "init", _init, "create the databases")
    configure = _add(commands, "configure", _configure, "save settings for the other commands")
    configure.add_argument("--lease", type=float, help="seconds")
    _add_tickets(configure)
    submit = _add(commands, "submit", _submit, "register a job")
    submit.add_argument("payload", help="JSON text")
    work = _add(commands, "work", _work, "work, reconcile and dispatch until nothing is left")
    work.add_argument("--worker", default="worker")
    work.add_argument("--lease", type=float, help="seconds")
    work.add_argument("--once", action="store_true", help="one job only, and no dispatching")
    _add_tickets(work)
    _add(commands, "dispatch", _dispatch, "offer pending events once")
    serve = _add(commands, "serve-tickets", _serve, "run the ticket service")
    serve.add_argument("--port", type=int, default=0)
    serve.add_argument("--mode", choices=ticket_desk.MODES, default="keys")
    serve.add_argument("--retention", type=float, default=ticket_desk.RETENTION, help="seconds")


def _add_people(commands: Commands[argparse.ArgumentParser]) -> None:
    person = _add(commands, "person", _person, "say who may approve")
    person.add_argument("name")
    person.add_argument("token")
    person.add_argument("--may-not", action="store_true")
    request = _add(commands, "request", _request, "ask for approval to publish a report", job=True)
    request.add_argument("applicant")
    request.add_argument("approver")
    answer = _add(commands, "answer", _answer, "answer such a request")
    answer.add_argument("request")
    answer.add_argument("person")
    answer.add_argument("token")
    answer.add_argument("--reject", action="store_true")
    answer.add_argument("--version", type=int, required=True, help="the version that was read")
    answer.add_argument("--action-hash", required=True, help="the action that was read")
    edit = _add(commands, "edit", _edit, "store a new version of a report", job=True)
    edit.add_argument("body")
    tell = _add(commands, "tell-currency", _tell, "tell what a job lacked", job=True)
    tell.add_argument("currency")


def _add_repair(commands: Commands[argparse.ArgumentParser]) -> None:
    _add_tickets(_add(commands, "reconcile", _reconcile, "ask what became of uncertain jobs"))
    decide = _add(commands, "resolve", _resolve, "decide about an uncertain job", job=True)
    decide.add_argument("verdict", choices=["happened", "did-not-happen", "compensated"])
    decide.add_argument("--ticket", type=int)
    decide.add_argument("--evidence", required=True, help="what was looked at")
    _add_tickets(decide)
    _add(commands, "cancel", _cancel, "stop a job", job=True)
    _add(commands, "requeue", _requeue, "put a dead job back", job=True)
    again = _add(commands, "offer-again", _offer_again, "offer an event again that was refused")
    again.add_argument("event")
    _add(commands, "reap", _reap, "release or give up jobs whose lease has expired")


def _add_upkeep(commands: Commands[argparse.ArgumentParser]) -> None:
    _add(commands, "status", _status, "how it stands")
    _add(commands, "check", _check, "compare the tables with the history")
    _add(commands, "migrate", _migrate, "bring app.db to this version")
    copy = _add(commands, "backup", _backup, "copy app.db, and verify the copy")
    copy.add_argument("target", type=Path)
    purge = _add(commands, "purge", _purge, "forget delivered events that cannot come again")
    purge.add_argument("--older-than", type=float, required=True, help="seconds")


def _add(
    commands: Commands[argparse.ArgumentParser],
    name: str,
    act: Command,
    text: str,
    *,
    job: bool = False,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=text)
    command.add_argument("home", type=Path, help="directory of the databases")
    if job:
        command.add_argument("job", type=int)
    command.set_defaults(act=act)
    return command


def _add_tickets(command: argparse.ArgumentParser) -> None:
    command.add_argument("--tickets", metavar="URL", help="the ticket service")
    command.add_argument("--ticket-mode", choices=ticket_desk.MODES)
    command.add_argument("--ticket-retention", type=float, help="seconds")


def _settings(args: argparse.Namespace) -> Settings:
    """What was saved, except where the command line says otherwise."""
    said = {name: value for name, value in vars(args).items() if value is not None}
    return replace(settings.load(args.home), **{name: said[name] for name in _NAMES if name in said})


def _client(args: argparse.Namespace) -> TicketClient:
    found = _settings(args)
    if found.tickets is None:
        raise AppError("--tickets URL is needed for this")
    return TicketClient(found.tickets, mode=found.ticket_mode, retention=found.ticket_retention)


def _init(args: argparse.Namespace) -> None:
    db.init(args.home)


def _configure(args: argparse.Namespace) -> None:
    settings.save(args.home, _settings(args))


def _submit(args: argparse.Namespace) -> None:
    payload = parse(args.payload)
    saved = jobs.register(args.home, key_of(payload), payload, time.time())
    print(saved.job_id, saved.state, "new" if saved.new else "known")
    if saved.result is not None:
        print(saved.result)


def _work(args: argparse.Namespace) -> None:
    found = _settings(args)
    client = _client(args) if found.tickets else None
    tools = worker.Tools(client, lease=found.lease)
    if args.once:
        claim = worker.work_once(args.home, args.worker, time.time, tools)
        print("nothing to do" if claim is None else f"worked on job {claim.job_id}")
    else:
        worker.run_until_idle(args.home, args.worker, time.time, tools=tools)


def _dispatch(args: argparse.Namespace) -> None:
    print(outbox.dispatch_once(args.home, time.time), "delivered")


def _serve(args: argparse.Namespace) -> None:
    serving.serve(args.home, time.time, args.mode, args.retention, args.port)


def _person(args: argparse.Namespace) -> None:
    approvals.set_person(args.home, args.name, args.token, not args.may_not)


def _request(args: argparse.Namespace) -> None:
    request_id = approvals.request(args.home, args.job, args.applicant, args.approver, time.time())
    row = approvals.get(args.home, request_id)
    print(request_id, row["state"], f"version={row['report_version']}", row["action_hash"])


def _answer(args: argparse.Namespace) -> None:
    state = approvals.answer(
        args.home, args.request, args.person, args.token, not args.reject,
        args.version, args.action_hash, time.time(),
    )  # fmt: skip
    print(args.request, state)


def _edit(args: argparse.Namespace) -> None:
    print("version", editing.edit(args.home, args.job, args.body, time.time()))


def _tell(args: argparse.Namespace) -> None:
    print(args.job, information.tell_currency(args.home, args.job, args.currency, time.time()))


def _reconcile(args: argparse.Namespace) -> None:
    settled = reconcile.reconcile_once(args.home, _client(args), time.time)
    print("settled:", *(map(str, settled) if settled else ["none"]))


def _resolve(args: argparse.Namespace) -> None:
    if args.verdict == "did-not-happen":
        state = resolve.did_not_happen(args.home, args.job, args.evidence, time.time())
    elif args.ticket is None:
        raise AppError(f"--ticket ID is needed for {args.verdict!r}")
    elif args.verdict == "happened":
        state = resolve.happened(args.home, args.job, args.ticket, args.evidence, time.time())
    else:
        state = resolve.compensated(args.home, args.job, args.ticket, args.evidence, _client(args), time.time)
    print(args.job, state)


def _cancel(args: argparse.Namespace) -> None:
    print(args.job, cancel.cancel(args.home, args.job, time.time()))


def _requeue(args: argparse.Namespace) -> None:
    dead_letters.requeue(args.home, args.job, time.time())


def _offer_again(args: argparse.Namespace) -> None:
    outbox.offer_again(args.home, args.event)


def _reap(args: argparse.Namespace) -> None:
    changed = reaper.reap(args.home, time.time())
    print("changed:", *(map(str, changed) if changed else ["none"]))


def _status(args: argparse.Namespace) -> None:
    print(*status.status(args.home, time.time()).lines(), sep="\n")


def _check(args: argparse.Namespace) -> None:
    found = events.differences(args.home)
    if found:
        raise AppError(f"{len(found)} differences: " + "; ".join(found))
    print("the tables are what the events say")


def _migrate(args: argparse.Namespace) -> None:
    found = migrations.migrate(args.home, time.time())
    print(f"version {found} -> {db.VERSIONS['app']}")


def _backup(args: argparse.Namespace) -> None:
    counts = backup.backup(args.home, args.target)
    print(", ".join(f"{number} {table}" for table, number in counts.items()))


def _purge(args: argparse.Namespace) -> None:
    result = retention.purge(args.home, args.older_than, time.time())
    print(f"forgotten: {len(result.forgotten)}")
    for event_id, why in result.refused.items():
        print(f"kept: {event_id}: {why}")
