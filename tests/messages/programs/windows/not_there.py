"""What Windows doesn't have."""

import os
import signal

for name in ("fork", "pread", "killpg", "getpgrp", "setsid", "pidfd_open", "register_at_fork", "WNOHANG"):
    delattr(os, name)
for name in ("SIGUSR1", "SIGUSR2", "SIGKILL", "SIGSTOP", "SIGCONT", "SIGHUP", "SIGCHLD", "SIGRTMAX"):
    delattr(signal, name)
