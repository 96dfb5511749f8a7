"""A swallowed TimeoutError is tried again under a new key: the card is charged twice."""

from tools import send_once

MARKER = {"lost_ack": "timeout_retried_with_new_key:charge", "error": {"timeout_*:charge": TimeoutError}}
FAILS = {"timeout_retried_with_new_key:charge:exit+1:lost_ack"}


def charge(effects, key):
    send_once(effects, key, "charge")


def attempts(effects, keys):
    for key in keys:
        try:
            return charge(effects, key)
        except TimeoutError:
            continue


def broken(effects):
    attempts(effects, ["k-1", "k-2"])


def correct(effects):
    attempts(effects, ["k-1", "k-1"])


def scenario(crashwindow, disk, program):
    _ = crashwindow.run(program, crashwindow.effects).value
    assert crashwindow.effects.count("charge") == 1
