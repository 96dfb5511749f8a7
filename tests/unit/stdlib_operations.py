"""Does nearly everything in the standard library that raises an audit event, and writes down which come.

A script for `test_audit_events.py`: `stdlib_operations.py FILE`.
"""

# ruff: noqa: B018  # reading an attribute raises an event as well
# mypy: ignore-errors

import array
import ast
import asyncio
import code
import concurrent.futures
import contextlib
import ctypes
import ctypes.util
import fcntl
import ftplib
import gc
import glob
import http.client
import http.server
import imaplib
import importlib
import inspect
import io
import json
import logging
import marshal
import mmap
import multiprocessing
import os
import pathlib
import pdb
import pickle
import poplib
import pty
import resource
import runpy
import shutil
import signal
import smtplib
import socket
import sqlite3
import ssl
import subprocess
import sys
import syslog
import tempfile
import threading
import time
import traceback
import tracemalloc
import types
import urllib.request
import warnings
import webbrowser
import zipfile

seen = set()
file = open(sys.argv[1], "a")  # noqa: SIM115  # till the end


def hook(event, args):
    if event not in seen:
        seen.add(event)
        file.write(event + "\n")
        file.flush()


sys.addaudithook(hook)


@contextlib.contextmanager
def whatever_happens():
    with contextlib.suppress(Exception):
        yield


def files(d):
    p = d / "f"
    p.write_text("x")
    p.read_bytes()
    p.touch()
    p.chmod(0o600)
    os.utime(p)
    os.truncate(p, 0)
    with open(p, "r+b") as f:
        f.write(b"12345678")
        f.flush()
        os.fsync(f.fileno())
        f.truncate(8)
        fcntl.flock(f, fcntl.LOCK_UN)
        fcntl.lockf(f, fcntl.LOCK_UN)
        fcntl.fcntl(f, fcntl.F_GETFD)
        with whatever_happens():
            fcntl.ioctl(f, 0, b"")
        os.lockf(f.fileno(), os.F_TEST, 0)
        mmap.mmap(f.fileno(), 8).close()
        with whatever_happens():  # not on every system, not on every file system
            os.listxattr(p)
        with whatever_happens():
            os.setxattr(p, "user.x", b"1")
        with whatever_happens():
            os.getxattr(p, "user.x")
        with whatever_happens():
            os.removexattr(p, "user.x")
    os.link(p, d / "g")
    os.symlink(p, d / "h")
    os.rename(d / "g", d / "i")
    os.replace(d / "i", d / "j")
    os.remove(d / "j")
    os.unlink(d / "h")
    os.mkdir(d / "k")
    os.rmdir(d / "k")
    os.makedirs(d / "l/m")
    os.listdir(d)
    list(os.scandir(d))
    list(os.walk(d))
    list(os.fwalk(d))
    os.chdir(d)
    fd = os.open(d, os.O_RDONLY)
    os.fchdir(fd)
    os.close(fd)
    with whatever_happens():
        os.chown(p, -1, -1)
    with whatever_happens():
        os.lchown(p, -1, -1)
    glob.glob("*")
    list(glob.iglob("**", recursive=True))
    list(d.glob("*"))
    list(d.rglob("*"))
    if hasattr(d, "walk"):
        list(d.walk())
    shutil.copy2(p, d / "c")
    shutil.copytree(d / "l", d / "n")
    shutil.move(d / "n", d / "o")
    shutil.rmtree(d / "o")
    with whatever_happens():
        shutil.chown(p, os.getuid())
    shutil.unpack_archive(shutil.make_archive(str(d / "z"), "zip", d / "l"), d / "q")
    tempfile.NamedTemporaryFile().close()
    tempfile.mkdtemp(dir=d)
    tempfile.TemporaryFile().close()
    os.putenv("CRASHWINDOW", "1")
    os.unsetenv("CRASHWINDOW")
    os.environ["CRASHWINDOW"] = "1"


def processes(d):
    subprocess.run(["true"])
    os.system("true")
    os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", ":"], os.environ), 0)
    os.spawnvp(os.P_WAIT, "true", ["true"])
    for run in (
        lambda: os._exit(0),
        lambda: os.execv("/bin/sh", ["sh", "-c", ":"]),
        lambda: os.execvpe("true", ["true"], {}),
    ):
        pid = os.fork()
        if pid == 0:
            run()
        os.waitpid(pid, 0)
    pid, fd = os.forkpty()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    os.close(fd)
    os.kill(os.getpid(), 0)
    os.killpg(os.getpgrp(), 0)
    signal.pthread_kill(threading.get_ident(), 0)
    resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
    if hasattr(resource, "prlimit"):
        resource.prlimit(0, resource.RLIMIT_CORE)
    context = multiprocessing.get_context("fork")
    process = context.Process(target=int)
    process.start()
    process.join()
    with whatever_happens():
        pty.spawn(["true"], lambda fd: b"")


def network(d):
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    server.RequestHandlerClass.log_message = lambda *args: None
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/").read()
    server.shutdown()
    server.server_close()
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))
    port = closed.getsockname()[1]
    for client in (ftplib.FTP, smtplib.SMTP, poplib.POP3, imaplib.IMAP4):
        with whatever_happens():
            client().connect("127.0.0.1", port) if client in (ftplib.FTP, smtplib.SMTP) else client("127.0.0.1", port)
    for function, arguments in [
        (socket.gethostname, ()),
        (socket.gethostbyname, ("127.0.0.1",)),
        (socket.gethostbyaddr, ("127.0.0.1",)),
        (socket.getaddrinfo, ("127.0.0.1", 80)),
        (socket.getnameinfo, (("127.0.0.1", 80), 3)),
        (socket.getservbyname, ("http",)),
        (socket.getservbyport, (80,)),
        (socket.getfqdn, ("127.0.0.1",)),
    ]:
        with whatever_happens():
            function(*arguments)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        with whatever_happens():
            s.sendto(b"", ("127.0.0.1", port))
        with whatever_happens():
            s.sendmsg([b""], [], 0, ("127.0.0.1", port))
        with whatever_happens():
            s.connect_ex(("127.0.0.1", port))
    ssl.create_default_context()
    closed.close()

    async def main():
        process = await asyncio.create_subprocess_exec("true")
        await process.wait()
        await asyncio.get_running_loop().run_in_executor(None, int)

        async def served(reader, writer):
            writer.close()

        async with await asyncio.start_server(served, "127.0.0.1", 0) as server:
            await asyncio.open_connection(*server.sockets[0].getsockname())

    asyncio.run(main())


def interpreter(d):
    eval("1")
    exec("1")
    compile("1", "x", "eval")
    ast.parse("1")
    id(1)
    marshal.loads(marshal.dumps((1, compile("1", "x", "eval"))))
    with open(d / "marshalled", "wb") as f:
        marshal.dump(1, f)
    with open(d / "marshalled", "rb") as f:
        marshal.load(f)
    pickle.loads(pickle.dumps(pathlib.Path))
    pickle._loads(pickle.dumps(pathlib.Path))

    def f():
        yield

    f.__code__
    f.__code__ = f.__code__
    f.__defaults__
    f.__defaults__ = ()
    f.__kwdefaults__ = {}
    f().gi_frame
    f().gi_code
    types.FunctionType(f.__code__, {})
    f.__code__.replace(co_name="g")
    types.CodeType(*code_arguments(f.__code__))

    class A:
        pass

    class B:
        pass

    A.__name__ = "X"
    A.__qualname__ = "X"
    A.__module__ = "x"
    A.__doc__ = ""
    a = A()
    a.__class__ = B
    with whatever_happens():
        A.__bases__ = (B,)
    with whatever_happens():
        del A.__module__
    with whatever_happens():
        del f.__defaults__
    traceback.extract_stack()
    sys._getframe().f_code
    sys._current_frames()
    for name in ("_current_exceptions", "_getframemodulename"):
        if hasattr(sys, name):
            getattr(sys, name)()
    sys.settrace(None)
    sys.setprofile(None)
    threading.setprofile(None)
    if hasattr(threading, "settrace_all_threads"):
        threading.settrace_all_threads(None)
        threading.setprofile_all_threads(None)
    if hasattr(sys, "monitoring"):
        sys.monitoring.use_tool_id(4, "x")
        sys.monitoring.register_callback(4, sys.monitoring.events.LINE, None)
    sys.set_asyncgen_hooks(None, None)
    sys.addaudithook(lambda *args: None)
    gc.get_objects()
    gc.get_referrers(a)
    gc.get_referents(a)
    gc.collect()
    tracemalloc.start()
    tracemalloc.stop()

    class Failing:
        def __del__(self):
            raise ValueError

    sys.unraisablehook = lambda info: None
    Failing()
    with whatever_happens():
        sys.breakpointhook = lambda *args: None
        breakpoint()
    array.array("i", [1])
    array.array("u", "x") if sys.version_info < (3, 13) else None
    with whatever_happens():
        inspect.getsource(json.loads)
    with whatever_happens():
        runpy.run_module("this_module_is_missing")
    runpy.run_path(str(empty(d)))
    code.InteractiveInterpreter().runsource("1")
    threading.Thread(target=int).start()
    time.sleep(0)
    warnings.warn_explicit("x", UserWarning, "f", 1)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
    with zipfile.ZipFile(d / "z.zip", "w") as archive:
        archive.writestr("inside_the_zip.py", "x = 1")
    sys.path.insert(0, str(d / "z.zip"))
    importlib.import_module("inside_the_zip")

    with whatever_happens():
        webbrowser.register("nothing", None, webbrowser.BaseBrowser())
        webbrowser.get("nothing").open("x")
    with whatever_happens():
        pdb.Pdb(nosigint=True, stdout=io.StringIO())
    sys.stdin = io.StringIO("x\n")
    with contextlib.redirect_stdout(io.StringIO()):
        input("")
    logging.FileHandler(d / "log").close()
    syslog.openlog("x")
    syslog.setlogmask(syslog.LOG_UPTO(syslog.LOG_ERR))
    syslog.closelog()


def code_arguments(c):
    names = [
        "co_argcount",
        "co_posonlyargcount",
        "co_kwonlyargcount",
        "co_nlocals",
        "co_stacksize",
        "co_flags",
        "co_code",
        "co_consts",
        "co_names",
        "co_varnames",
        "co_filename",
        "co_name",
        "co_qualname",
        "co_firstlineno",
        "co_linetable",
        "co_exceptiontable",
        "co_freevars",
        "co_cellvars",
    ]
    return [getattr(c, name) for name in names]


def empty(d):
    (d / "empty.py").touch()
    return d / "empty.py"


def foreign(d):
    library = ctypes.CDLL(None)
    library.getpid()
    ctypes.get_errno()
    ctypes.set_errno(0)
    library.strlen(b"x")
    buffer = ctypes.create_string_buffer(b"abc")
    ctypes.create_unicode_buffer("abc")
    ctypes.addressof(buffer)
    ctypes.string_at(buffer)
    ctypes.wstring_at(ctypes.create_unicode_buffer("a"))
    ctypes.util.find_library("c")
    ctypes.c_int.from_address(ctypes.addressof(buffer))
    ctypes.c_byte.from_buffer(buffer)
    ctypes.c_byte.from_buffer_copy(buffer)
    ctypes.CFUNCTYPE(None)(lambda: None)()
    ctypes.py_object(1).value
    ctypes.cast(id(d), ctypes.py_object).value
    ctypes.c_int.in_dll(ctypes.pythonapi, "Py_OptimizeFlag")
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t(x)")
    connection.commit()
    with whatever_happens():
        connection.enable_load_extension(True)
    with whatever_happens():
        connection.load_extension("nothing")
    connection.close()


if __name__ == "__main__":
    for operations in (files, processes, network, interpreter, foreign):
        with tempfile.TemporaryDirectory() as directory:
            operations(pathlib.Path(directory).resolve())
            os.chdir("/")
        print("done", operations.__name__)
