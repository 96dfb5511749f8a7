"""`python -m sample_app`: the app on a directory, one command for each act."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from . import db, demo, jobs, outbox, worker
from .errors import AppError, one_line
from .payloads import key_of, parse

Command = Callable[[argparse.Namespace], None]


def main(argv: list[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    try:
        args.act(args)
    except (AppError, OSError) as error:
        print(f"sample_app: {one_line(error)}", file=sys.stderr)
        return 1
    return 0


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sample_app", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("demo", help="play the stories").set_defaults(act=lambda _: demo.main())
    _add(commands, "init", _init, "create the databases")
    submit = _add(commands, "submit", _submit, "register a job")
    submit.add_argument("payload", help="JSON text")
    work = _add(commands, "work", _work, "work and dispatch until nothing is left")
    work.add_argument("--worker", default="worker")
    work.add_argument("--lease", type=float, default=jobs.LEASE, help="seconds")
    work.add_argument("--once", action="store_true", help="one job only, and no dispatching")
    _add(commands, "dispatch", _dispatch, "offer pending events once")
    return parser


def _add(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    act: Command,
    text: str,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=text)
    command.add_argument("home", type=Path, help="directory of the databases")
    command.set_defaults(act=act)
    return command


def _init(args: argparse.Namespace) -> None:
    db.init(args.home)


def _submit(args: argparse.Namespace) -> None:
    payload = parse(args.payload)
    saved = jobs.register(args.home, key_of(payload), payload, time.time())
    print(saved.job_id, saved.state, "new" if saved.new else "known")
    if saved.result is not None:
        print(saved.result)


def _work(args: argparse.Namespace) -> None:
    if args.once:
        claim = worker.work_once(args.home, args.worker, time.time, worker.Tools(lease=args.lease))
        print("nothing to do" if claim is None else f"worked on job {claim.job_id}")
        return
    worker.run_until_idle(args.home, args.worker, time.time, tools=worker.Tools(lease=args.lease))


def _dispatch(args: argparse.Namespace) -> None:
    print(outbox.dispatch_once(args.home, time.time), "delivered")
