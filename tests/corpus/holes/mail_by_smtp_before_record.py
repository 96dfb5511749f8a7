"""A mail is handed to the mail server before it is written down that it was."""

import smtplib

from tools import send, send_once, served, smtp_server

MARKER = {}
FAILS = {"smtp.send:exit+1:crash", "open:enter+1:crash"}


def run(mark, port, header):
    if not mark.exists():
        with smtplib.SMTP("127.0.0.1", port, local_hostname="localhost") as server:
            server.sendmail("shop@example.org", ["ada@example.org"], f"{header}Subject: your order\r\n\r\nThanks.\r\n")
        mark.touch()


def broken(mark, port):
    run(mark, port, "")


def correct(mark, port):
    run(mark, port, "Message-ID: <o-1@example.org>\r\n")


def scenario(crashwindow, disk, program):
    effects = crashwindow.effects
    with served(smtp_server(lambda key: (send_once if key else send)(effects, key))) as port:
        crashwindow.supervise(program, disk / "mailed", port)
    assert effects.count("mail") == 1
