"""A browser for tests: the one that is there, or Debian's where it can be installed."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 240


def find_browser() -> str | None:
    """The path of a Chromium: `UNSEEN_BROWSER`, one that is installed, or Debian's, installed now if we are root."""
    named = os.environ.get("UNSEEN_BROWSER")
    if named:
        return named
    with (Path(tempfile.gettempdir()) / "unseen-browser.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        return _installed() or (_installed() if _install() else None)


def _installed() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def _install() -> bool:
    """Whether Debian's Chromium could be installed."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    commands = (["apt-get", "update"], ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"])
    try:
        for command in commands:
            subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)
        return True
    except subprocess.SubprocessError:
        return False
