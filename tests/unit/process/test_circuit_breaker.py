"""Times are monotonic seconds, as the callers give them."""

from __future__ import annotations

import pytest

from memtree.process.circuit_breaker import SHORT_WAIT, STORE_REST, CircuitBreaker

LONG = 10 * SHORT_WAIT


def test_one_call_that_waited_in_vain_opens_the_circuit_of_a_store():
    circuit = CircuitBreaker.of_store()
    assert circuit.admits(100)
    circuit.waited(100, 100 + LONG, "it is locked")
    now = 100 + LONG
    assert (circuit.admits(now), circuit.due(now), circuit.reason) == (False, False, "it is locked")


def test_one_call_at_a_time_finds_out_whether_the_store_works_again():
    circuit = CircuitBreaker.of_store()
    circuit.waited(100, 103, "it is locked")
    later = 103 + STORE_REST
    assert circuit.due(later)
    assert not circuit.due(later + 0.1)
    circuit.waited(later, later + LONG, "it is locked")  # the probe failed, too
    assert not circuit.due(later + LONG)
    assert circuit.due(later + LONG + STORE_REST)
    circuit.worked(later + LONG + STORE_REST)
    assert circuit.admits(later + LONG + STORE_REST)


@pytest.mark.parametrize(("worked", "waited", "opens"), [
    (0, LONG, True),
    (0, SHORT_WAIT / 2, False),  # it held up nobody
    (101, LONG, False),  # others got through meanwhile: it met a lock of its own rows
    (99, LONG, True),
])  # fmt: skip
def test_what_opens_a_circuit(worked: float, waited: float, opens: bool):
    circuit = CircuitBreaker.of_store()
    circuit.worked(worked)
    circuit.waited(100, 100 + waited, "it is locked")
    assert circuit.admits(100 + waited) is not opens
