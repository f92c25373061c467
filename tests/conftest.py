"""Settings shared by all tests: how hard hypothesis looks, as many open files as a server has, and
a Ctrl-C that arrives.

`default` is for the desk; `quick` is what `make check` and `make test` look with, `ci` what
`make test-all` does. `ci` draws the same examples on every run, and with CI=true `quick` does, too.
`HYPOTHESIS_PROFILE=thorough` is for a long look before a release.
"""

import gc
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from memtree_proxy.server.listener import allow_many_files

# No deadline: speed is a benchmark, and a busy machine must not fail a test. Nor must the luck of
# what was drawn first.
_base = settings(
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
        HealthCheck.large_base_example,
    ],
)
settings.register_profile("default", _base, max_examples=50)
_same = settings(_base, derandomize="CI" in os.environ, print_blob=True)
settings.register_profile("quick", _same, max_examples=12)
settings.register_profile("ci", _base, max_examples=50, derandomize=True, print_blob=True)
settings.register_profile("thorough", _base, max_examples=2000)
_here = "ci" if "CI" in os.environ else "default"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", _here))
if settings().derandomize:
    # Else it draws constants of the modules that happen to be loaded, so that an example depends on
    # which tests ran before in the same process.
    vars(providers)["is_local_module_file"] = lambda _: False

allow_many_files()

# What names no store keeps it in the user's folder for data, which is none of the tests'.
_data = tempfile.TemporaryDirectory(prefix="memtree-tests-", ignore_cleanup_errors=True)
os.environ["XDG_DATA_HOME"] = _data.name

_FAILED = pytest.StashKey[bool]()

# A shell that runs the tests in the background has them ignore it, and so would each process that a
# test starts.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Freeze what is collected, since it stays to the end: to look for garbage among it meanwhile
    takes a third of the time. Whoever only hands out tests to others collects none."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Drop the traceback of a failed test, which keeps what the test left open (a process, a
    socket): as garbage of a later test its warnings, which are errors, would fail that one."""
    if item.stash.get(_FAILED, False):
        for name in ("last_exc", "last_value", "last_traceback"):
            vars(sys).pop(name, None)
        gc.collect()
