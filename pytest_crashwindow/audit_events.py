"""The names of the audit events that CPython itself raises. Everything else is somebody's own.

They are exact names, because prefixes would take `email.sent` or `queue.job.done` for CPython's. They were
collected from the interpreters of 3.9 to 3.13 (every call of `PySys_Audit` in the machine code, every
`sys.audit` in the library) and from the audit events table of the documentation up to 3.14, which has
some more for other systems and misses or misspells a few.

This module runs inside lives: standard library only.
"""

from __future__ import annotations

CPYTHON_EVENTS: frozenset[str] = frozenset(
    """
    compile exec import open remote_debugger_script setopencodehook

    _winapi.CopyFile2 _winapi.CreateEventW _winapi.CreateFile _winapi.CreateFileMapping
    _winapi.CreateJunction _winapi.CreateMutexW _winapi.CreateNamedPipe _winapi.CreatePipe
    _winapi.CreateProcess _winapi.OpenEventW _winapi.OpenMutexW _winapi.OpenProcess
    _winapi.TerminateProcess

    cpython.PyConfig_Set cpython.PyInterpreterState_Clear cpython.PyInterpreterState_New
    cpython._PySys_ClearAuditHooks cpython.remote_debugger_script cpython.run_command
    cpython.run_file cpython.run_interactivehook cpython.run_module cpython.run_startup
    cpython.run_stdin

    ctypes.PyObj_FromPtr ctypes.addressof ctypes.call_function ctypes.cdata ctypes.cdata/buffer
    ctypes.create_string_buffer ctypes.create_unicode_buffer ctypes.dlopen ctypes.dlsym
    ctypes.dlsym/handle ctypes.get_errno ctypes.get_last_error ctypes.memoryview_at
    ctypes.seh_exception ctypes.set_errno ctypes.set_exception ctypes.set_last_error
    ctypes.string_at ctypes.wstring_at

    os.add_dll_directory os.chdir os.chflags os.chmod os.chown os.exec os.fork os.forkpty os.fwalk
    os.getxattr os.kill os.killpg os.link os.listdir os.listdrives os.listmounts os.listvolumes
    os.listxattr os.lockf os.mkdir os.posix_spawn os.putenv os.remove os.removexattr os.rename
    os.rmdir os.scandir os.setxattr os.spawn os.startfile os.startfile/2 os.symlink os.system
    os.truncate os.unsetenv os.utime os.walk

    shutil.chown shutil.copyfile shutil.copymode shutil.copystat shutil.copytree shutil.make_archive
    shutil.move shutil.rmtree shutil.unpack_archive

    socket.__new__ socket.bind socket.connect socket.getaddrinfo socket.gethostbyaddr
    socket.gethostbyname socket.gethostname socket.getnameinfo socket.getservbyname
    socket.getservbyport socket.sendmsg socket.sendto socket.sethostname

    sys._current_exceptions sys._current_frames sys._debugmallocstats sys._getframe
    sys._getframemodulename sys.addaudithook sys.excepthook sys.monitoring.register_callback
    sys.remote_exec sys.set_asyncgen_hook_finalizer sys.set_asyncgen_hook_firstiter
    sys.set_asyncgen_hooks_finalizer sys.set_asyncgen_hooks_firstiter sys.setprofile sys.settrace
    sys.unraisablehook

    winreg.ConnectRegistry winreg.CreateKey winreg.DeleteKey winreg.DeleteValue
    winreg.DisableReflectionKey winreg.EnableReflectionKey winreg.EnumKey winreg.EnumValue
    winreg.ExpandEnvironmentStrings winreg.LoadKey winreg.OpenKey winreg.OpenKey/result
    winreg.PyHKEY.Detach winreg.QueryInfoKey winreg.QueryReflectionKey winreg.QueryValue
    winreg.SaveKey winreg.SetValue

    _thread.start_joinable_thread _thread.start_new_thread _wmi.exec_query array.__new__
    builtins.breakpoint builtins.id builtins.input builtins.input/result code.__new__
    ensurepip.bootstrap fcntl.fcntl fcntl.flock fcntl.ioctl fcntl.lockf ftplib.connect
    ftplib.sendcmd function.__new__ gc.get_objects gc.get_referents gc.get_referrers glob.glob
    glob.glob/2 http.client.connect http.client.send imaplib.open imaplib.send marshal.dumps
    marshal.load marshal.loads mmap.__new__ msvcrt.get_osfhandle msvcrt.locking
    msvcrt.open_osfhandle nntplib.connect nntplib.putline object.__delattr__ object.__getattr__
    object.__setattr__ pathlib.Path.glob pathlib.Path.rglob pathlib.Path.walk pdb.Pdb
    pickle.find_class poplib.connect poplib.putline pty.spawn resource.prlimit resource.setrlimit
    signal.pthread_kill smtplib.connect smtplib.send sqlite3.connect sqlite3.connect/handle
    sqlite3.enable_load_extension sqlite3.load_extension subprocess.Popen syslog.closelog
    syslog.openlog syslog.setlogmask syslog.syslog telnetlib.Telnet.open telnetlib.Telnet.write
    tempfile.mkdtemp tempfile.mkstemp time.sleep urllib.Request webbrowser.open
    """.split()  # noqa: SIM905  # four hundred quotes would hide the names
)
