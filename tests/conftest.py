"""Settings shared by all tests: how hard hypothesis looks, and as many open files as a server has.

`default` is for the desk; `ci` (chosen by CI=true) draws more, the same examples on every run;
`quick` is what `make check` looks with, `HYPOTHESIS_PROFILE=thorough` is for a long look before a
release.
"""

import os

from hypothesis import HealthCheck, settings

from proxy.server.open_files import allow_many_files

# No deadline: speed is a benchmark, and a busy machine must not fail a test.
_base = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("default", _base, max_examples=50)
settings.register_profile("quick", _base, max_examples=15)
settings.register_profile("ci", _base, max_examples=100, derandomize=True, print_blob=True)
settings.register_profile("thorough", _base, max_examples=2000)
_here = "ci" if "CI" in os.environ else "default"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", _here))

allow_many_files()
