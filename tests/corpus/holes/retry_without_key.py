"""A request without an idempotency key is repeated when its answer doesn't come."""

from tools import send, send_once

CALL = "retry_without_key:request"
MARKER = {"lost_ack": {CALL: ConnectionResetError}, "error": {CALL: ConnectionRefusedError("nobody there")}}
FAILS = {f"{CALL}:exit+1:lost_ack"}


def request(send, effects):
    send(effects, "o-1", "ticket")


def attempts(send, effects):
    for _ in range(3):
        try:
            return request(send, effects)
        except ConnectionError:
            continue


def broken(effects):
    attempts(send, effects)


def correct(effects):
    attempts(send_once, effects)


def scenario(crashwindow, disk, program):
    _ = crashwindow.run(program, crashwindow.effects).value
    assert crashwindow.effects.keys("ticket") == ["o-1"]
