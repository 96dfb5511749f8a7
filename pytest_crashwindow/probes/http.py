"""`http`: a request is about to leave, and the headers of its answer have arrived.

Audit events come per packet or per connection, not per request, so the methods of each client that send
a request and read the answer are attached to. `error` at `:enter`: nothing is sent. `lost_ack` at
`:exit`: the server has acted, the connection is closed, and the client can go on with a new one.
"""

from __future__ import annotations

import contextlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .base import Probe

if TYPE_CHECKING:
    from ..installing import Site
    from ..tracker import Tracker


class Http(Probe):
    """`http.client` (so urllib, requests, urllib3), httpx with its own transports, aiohttp.

    One pair for each request; redirects are requests of their own, except with aiohttp, which follows
    them inside one. Other clients can be attached to, or given a `crashwindow.proxy`.
    """

    name = "http"
    calls = ("http.request",)

    def install(self, site: Site) -> None:
        points = _Points(site.tracker)
        site.when_imported("http.client", lambda module: _attach_to_http_client(site, points, module))
        site.when_imported("httpx", lambda module: _attach_to_httpx(site, points, module))
        site.when_imported("aiohttp", lambda module: _attach_to_aiohttp(site, points, module))


class _Points:
    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker

    def enter(self, method: str, url: str) -> tuple[str, str]:
        __tracebackhide__ = True
        request = method.upper(), url
        self._tracker.passed("http.request:enter", request)
        return request

    def exit(self, request: tuple[str, str]) -> None:
        __tracebackhide__ = True
        self._tracker.passed("http.request:exit", request)


# -- http.client ---------------------------------------------------------------------------------


def _attach_to_http_client(site: Site, points: _Points, module: ModuleType) -> None:
    def putrequest(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        __tracebackhide__ = True
        connection, method, target = args[:3]
        request = points.enter(method, _url(connection, target))
        result = original(*args, **kwargs)
        connection.__dict__["_crashwindow_request"] = request
        return result

    def getresponse(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        __tracebackhide__ = True
        connection = args[0]
        response = original(*args, **kwargs)
        request = connection.__dict__.pop("_crashwindow_request", None)
        if request is not None:
            try:
                points.exit(request)
            except BaseException:
                response.close()
                connection.close()
                raise
        return response

    site.attach(module.HTTPConnection.putrequest, putrequest)
    site.attach(module.HTTPConnection.getresponse, getresponse)


def _url(connection: Any, target: str) -> str:
    if "://" in target.partition("?")[0]:
        return target  # as a proxy wants it
    host, port = connection.host, connection.port
    if getattr(connection, "_tunnel_host", None):
        host, port = connection._tunnel_host, connection._tunnel_port
    host = f"[{host}]" if ":" in host else host
    scheme = "https" if connection.default_port == 443 else "http"
    place = host if port in (None, connection.default_port) else f"{host}:{port}"
    return f"{scheme}://{place}{target or '/'}"


# -- httpx ---------------------------------------------------------------------------------------


def _attach_to_httpx(site: Site, points: _Points, module: ModuleType) -> None:
    def handle_request(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        __tracebackhide__ = True
        request = points.enter(args[1].method, str(args[1].url))
        response = original(*args, **kwargs)
        try:
            points.exit(request)
        except BaseException:
            response.close()
            raise
        return response

    async def handle_async_request(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        __tracebackhide__ = True
        request = points.enter(args[1].method, str(args[1].url))
        response = await original(*args, **kwargs)
        try:
            points.exit(request)
        except BaseException:
            await response.aclose()
            raise
        return response

    site.attach(module.HTTPTransport.handle_request, handle_request)
    site.attach(module.AsyncHTTPTransport.handle_async_request, handle_async_request)


# -- aiohttp -------------------------------------------------------------------------------------


def _attach_to_aiohttp(site: Site, points: _Points, module: ModuleType) -> None:
    async def _request(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        __tracebackhide__ = True
        session, method, url = args[:3]
        with contextlib.suppress(Exception):  # a wrong URL: the original says so best
            url = session._build_url(url)
            if kwargs.get("params"):
                url = url.update_query(kwargs["params"])
        request = points.enter(method, str(url))
        response = await original(*args, **kwargs)
        try:
            points.exit(request)
        except BaseException:
            response.close()
            raise
        return response

    site.attach(module.ClientSession._request, _request)
