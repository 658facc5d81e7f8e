#!/usr/bin/python3
"""Types a line into a shell on a terminal of its own, with Tab at its end, and waits for what it is to become.

    tests/cli/typed.py SHELL SCRIPT LINE WHOLE     SHELL: bash, zsh or fish; SCRIPT: its completion of cull

Exits 1, and prints what came instead, where the line does not become WHOLE; says so where the shell is not there.
"""
import os
import pty
import re
import select
import shutil
import signal
import sys
import time

READY = "echo rea''dy\n"
START = {"bash": (["--norc", "--noprofile", "-i"], "source %s; " + READY),
         "zsh": (["-f", "-i"], "autoload -U compinit; compinit -u -D; source %s; compdef _cull cull; " + READY),
         "fish": (["--no-config", "-i"], "source %s; " + READY)}
MOST = 60  # seconds, on a machine with much else to do


def read(fd, until):
    """What comes until this text is there; False where it does not come."""
    text, end = "", time.monotonic() + MOST
    while until not in plain(text):
        if time.monotonic() > end:
            print(plain(text))
            return False
        if select.select([fd], [], [], .1)[0]:
            text += os.read(fd, 4096).decode(errors="replace")
    return True


def plain(text):
    """Without what moves the cursor or colours."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|[\x07\r]", "", text)


def main():
    shell, script, line, whole = sys.argv[1:]
    if not shutil.which(shell):
        print("left out: there is no %s" % shell)
        return 0
    words, begin = START[shell]
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", INPUTRC="/dev/null", HISTFILE="/dev/null")
        os.execvp(shell, [shell] + words)
    os.write(fd, (begin % script).encode())
    good = read(fd, "ready")
    os.write(fd, (line + "\t").encode())
    good = good and read(fd, whole)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return not good


if __name__ == "__main__":
    sys.exit(main())
