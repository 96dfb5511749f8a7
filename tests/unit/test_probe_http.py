from __future__ import annotations

import asyncio
import contextlib
import http.client
import importlib.util
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import servers
from probing import Ended, Lives, crash_at, error_at, lost_ack_at

from pytest_crashwindow.points import Armed
from pytest_crashwindow.probes.http import Http

PAIR = ["http.request:enter", "http.request:exit"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[servers.Server]:
    with servers.serving(tmp_path / "served", servers.http) as server:
        yield server


# -- clients: each gets all URLs by one session, and tells the answer or the name of the exception --------


def outcome(get: Callable[[], Any]) -> str:
    try:
        return str(get())
    except Exception as error:
        return type(error).__name__


def by_urllib(urls: Sequence[str]) -> list[str]:
    def get(url: str) -> str:
        with urllib.request.urlopen(url) as answer:
            return str(answer.read().decode())

    return [outcome(lambda url=url: get(url)) for url in urls]  # type: ignore[misc]


def by_http_client(urls: Sequence[str]) -> list[str]:
    host = urls[0].split("/")[2]

    def get(connection: http.client.HTTPConnection, url: str) -> str:
        connection.request("GET", f"/{url.split('/', 3)[3]}")
        return connection.getresponse().read().decode()

    with contextlib.closing(http.client.HTTPConnection(host)) as connection:
        return [outcome(lambda url=url: get(connection, url)) for url in urls]  # type: ignore[misc]


def by_requests(urls: Sequence[str]) -> list[str]:
    import requests

    with requests.Session() as session:
        return [outcome(lambda url=url: session.get(url).text) for url in urls]  # type: ignore[misc]


def by_httpx(urls: Sequence[str]) -> list[str]:
    import httpx

    with httpx.Client(follow_redirects=True) as client:
        return [outcome(lambda url=url: client.get(url).text) for url in urls]  # type: ignore[misc]


def by_httpx_async(urls: Sequence[str]) -> list[str]:
    import httpx

    async def main() -> list[str]:
        outcomes = []
        async with httpx.AsyncClient(follow_redirects=True) as client:
            for url in urls:
                try:
                    outcomes.append((await client.get(url)).text)
                except Exception as error:
                    outcomes.append(type(error).__name__)
        return outcomes

    return asyncio.run(main())


def by_aiohttp(urls: Sequence[str]) -> list[str]:
    import aiohttp

    async def main() -> list[str]:
        outcomes = []
        async with aiohttp.ClientSession() as session:
            for url in urls:
                try:
                    async with session.get(url) as answer:
                        outcomes.append(await answer.text())
                except Exception as error:
                    outcomes.append(type(error).__name__)
        return outcomes

    return asyncio.run(main())


CLIENTS: dict[str, Callable[[Sequence[str]], list[str]]] = {
    "urllib": by_urllib,
    "http.client": by_http_client,
    "requests": by_requests,
    "httpx": by_httpx,
    "httpx async": by_httpx_async,
    "aiohttp": by_aiohttp,
}


@pytest.fixture(params=list(CLIENTS))
def client(request: pytest.FixtureRequest) -> Callable[[Sequence[str]], list[str]]:
    # Not imported here: that happens in the life, after the probe is installed.
    name = request.param.split()[0]
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        pytest.skip(f"{name} isn't installed")
    return CLIENTS[request.param]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Ended]:
    lives = Lives(tmp_path, Http)
    return lambda body, *armed, **how: lives.run(lambda tracker: body(), *armed, **how)


Run = Callable[..., Ended]


class TestEachClient:
    def test_one_pair_for_each_request(self, run: Run, server: servers.Server, client: Any) -> None:
        ended = run(lambda: client([f"{server.url}/a", f"{server.url}/b?c=d"]))
        assert ended.value == ["/a", "/b?c=d"], ended.report
        assert ended.points == PAIR * 2
        arguments = [f"'GET', '{server.url}/a'"] * 2 + [f"'GET', '{server.url}/b?c=d'"] * 2
        assert [hit.arguments for hit in ended.hits] == arguments
        assert ended.unraisable == []

    def test_error_sends_nothing_and_the_client_goes_on(self, run: Run, server: servers.Server, client: Any) -> None:
        urls = [f"{server.url}/{name}" for name in "abc"]
        ended = run(lambda: client(urls), error_at(PAIR[0], nth=2))
        assert ended.value == ["/a", "Boom", "/c"], ended.report
        assert ended.points == [*PAIR, PAIR[0], *PAIR]
        assert server.served == ["GET /a", "GET /c"]
        assert ended.unraisable == []

    def test_lost_ack_comes_after_the_server_acted_and_the_client_goes_on(
        self, run: Run, server: servers.Server, client: Any
    ) -> None:
        urls = [f"{server.url}/{name}" for name in "abc"]
        ended = run(lambda: client(urls), lost_ack_at(PAIR[1], nth=2))
        assert ended.value == ["/a", "Boom", "/c"], ended.report
        assert ended.points == PAIR * 3
        assert server.served == ["GET /a", "GET /b", "GET /c"]
        assert ended.unraisable == []

    def test_crash(self, run: Run, server: servers.Server, client: Any) -> None:
        assert run(lambda: client([f"{server.url}/a"]), crash_at(PAIR[0])).killed
        assert server.served == []
        assert run(lambda: client([f"{server.url}/b"]), crash_at(PAIR[1])).killed
        assert server.served == ["GET /b"]

    def test_a_refused_connection_has_no_exit(self, run: Run, client: Any) -> None:
        ended = run(lambda: client(["http://127.0.0.1:9/a"]))
        assert "/a" not in ended.value
        assert ended.points == PAIR[:1]

    def test_a_redirect(self, run: Run, server: servers.Server, client: Any) -> None:
        ended = run(lambda: client([f"{server.url}/redirect"]))
        if client is by_http_client:  # follows none
            assert ended.points == PAIR
        elif client is by_aiohttp:
            assert (ended.value, ended.points) == (["/target"], PAIR)
        else:
            assert (ended.value, ended.points) == (["/target"], PAIR * 2)

    def test_outside_lives(self, run: Run, server: servers.Server, client: Any) -> None:
        ended = run(lambda: client([f"{server.url}/a"]), begun=False)
        assert (ended.value, ended.points) == (["/a"], [])


class TestExceptions:
    def test_of_the_client_by_name(self, run: Run, server: servers.Server) -> None:
        pytest.importorskip("httpx")
        armed: Armed = lost_ack_at(PAIR[1], error="httpx:ReadTimeout")
        assert run(lambda: by_httpx([f"{server.url}/a"]), armed).value == ["ReadTimeout"]

    def test_requests_makes_its_own_of_a_timeout(self, run: Run, server: servers.Server) -> None:
        pytest.importorskip("requests")
        armed = lost_ack_at(PAIR[1], error=TimeoutError)
        assert run(lambda: by_requests([f"{server.url}/a"]), armed).value == ["ReadTimeout"]


class TestArguments:
    def test_method_of_a_post(self, run: Run, server: servers.Server) -> None:
        def body() -> None:
            urllib.request.urlopen(f"{server.url}/a", data=b"x").close()

        ended = run(body)
        assert ended.hits[0].arguments == f"'POST', '{server.url}/a'"
        assert ended.unraisable == []

    def test_url_behind_a_proxy(self, run: Run, server: servers.Server) -> None:
        def body() -> None:
            proxy = urllib.request.ProxyHandler({"http": server.url})
            urllib.request.build_opener(proxy).open("http://shop.example/a").close()

        assert run(body).hits[0].arguments == "'GET', 'http://shop.example/a'"

    def test_parameters_of_aiohttp(self, run: Run, server: servers.Server) -> None:
        aiohttp = pytest.importorskip("aiohttp")

        async def main() -> None:
            async with aiohttp.ClientSession(server.url) as session:
                await session.post("/a", params={"b": "c"})

        ended = run(lambda: asyncio.run(main()))
        assert ended.hits[0].arguments == f"'POST', '{server.url}/a?b=c'", ended.report
