"""Ray for the duration of one command: on this machine, or on an existing cluster.

Nothing is sent anywhere: Ray's usage statistics are off, and its dashboard is not started. A Ray that this program has
started itself is used as it is, and left running.
"""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from unseen.errors import MissingExtra, UnseenError
from unseen.graph.compiling import available_cores

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCAL = "local"
"""The address of a Ray that lives as long as the command, on this machine."""
CORES_OF_A_WORKER = 2
"""Where the number of workers is not said."""


def imported_ray() -> Any:
    """The package `ray`, quiet and without statistics."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "1")  # said, so that Ray does not warn about it
    try:
        import ray
    except ImportError:
        raise MissingExtra("spreading work over workers", "ray", "ray") from None
    logging.getLogger("ray").setLevel(logging.ERROR)
    return ray


@contextmanager
def opened_ray(address: str | None, workers: int | None) -> Iterator[Any]:
    """Ray at an address, at that of the environment variable RAY_ADDRESS, or a new one here; closed in the end."""
    ray = imported_ray()
    if ray.is_initialized():
        yield ray
        return
    where = address or os.environ.get("RAY_ADDRESS") or LOCAL
    how: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if where == LOCAL:
        how |= {"include_dashboard": False, "num_cpus": max(available_cores(), workers or 1)}
    try:
        ray.init(address=where, **how)
    except (ConnectionError, RuntimeError, ValueError) as error:
        ray.shutdown()
        raise UnseenError(f"no Ray at {where}: {_first_line(error)}") from None
    _keep_quiet(ray)
    try:
        yield ray
    finally:
        ray.shutdown()


def _keep_quiet(ray: Any) -> None:
    """Silence Ray: its messages about dead workers would go to standard output, among the results."""
    ray._private.worker._worker_logs_enabled = False


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
