"""Calls that can't be attached."""

import functools

import pytest

attach = pytest.mark.crashwindow_calls
NUMBER, ITEMS = 7, []


class Base:
    limit = 3

    @staticmethod
    def build():
        pass

    @functools.lru_cache  # noqa: B019
    def cached(self):
        pass


class Mailer(Base):
    def send(self):
        pass


class Sealed(type):
    def __setattr__(cls, name, value):
        raise AttributeError("sealed")


class Vault(metaclass=Sealed):
    key = functools.partial(print)


def stream():
    yield 1


async def feed():
    yield 1


@attach("shop.mail.send")
def test_dot_instead_of_a_colon(crashwindow):
    pass


@attach("send")
def test_no_module_at_all(crashwindow):
    pass


@attach("shop.mial:send")
def test_module_that_is_not_there(crashwindow):
    pass


@attach("calls_misuse:stream")
def test_module_with_a_near_name(crashwindow):
    pass


@attach("calls_misused.mail:send")
def test_module_below_a_module(crashwindow):
    pass


@attach("calls_misused:Mailer.sned")
def test_method_with_a_near_name(crashwindow):
    pass


@attach("calls_misused:Postman")
def test_name_that_is_not_there(crashwindow):
    pass


@attach("calls_misused:NUMBER")
def test_name_that_is_no_call(crashwindow):
    pass


@attach("calls_misused:Mailer.limit")
def test_attribute_that_is_no_call(crashwindow):
    pass


@attach("calls_misused:Mailer")
def test_class(crashwindow):
    pass


@attach("calls_misused:Mailer.__init__")
def test_method_of_every_object(crashwindow):
    pass


@attach("calls_misused:Mailer.build")
def test_inherited_static_method(crashwindow):
    pass


@attach("sqlite3:Connection.commit")
def test_method_in_c_that_a_probe_has(crashwindow):
    pass


@attach("datetime:datetime.now")
def test_method_in_c(crashwindow):
    pass


@attach("calls_misused:ITEMS.append")
def test_method_of_a_list(crashwindow):
    pass


@attach("calls_misused:Vault.key")
def test_class_that_refuses(crashwindow):
    pass


@pytest.mark.duplicate_at("calls_misused:stream")
def test_duplicate_of_a_generator(crashwindow):
    pass


@pytest.mark.lost_ack_at("calls_misused:feed")
def test_lost_answer_of_an_async_generator(crashwindow):
    pass
