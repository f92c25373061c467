"""Packed vectors, and what an answer is unfolded for."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from memtree.history.chat_history import read
from memtree.history.message import Message, Volatile
from memtree.ranking.ranking_query import CALLED, REACH, ROUNDS, SAID, Query, query_of
from memtree.ranking.vectors import Packed, VectorRows, are_packed, compared, pack, unit, unpack

# ------------------------------------------------------------------------------------------------
# Packing keeps directions; the rows answer like plain arithmetic.


Matrix = NDArray[np.float32]
numbers = st.floats(-(2.0**100), 2.0**100, width=32)
matrices = st.integers(0, 6).flatmap(lambda n: arrays(np.float32, (n, 8), elements=numbers))


def noise(rows: int, dimensions: int = 384, seed: int = 1) -> Matrix:
    matrix = np.random.default_rng(seed).standard_normal((rows, dimensions)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix


def filled(*matrices: Matrix | Packed) -> VectorRows:
    vectors = VectorRows(matrices[0].shape[1])
    for matrix in matrices:
        vectors = vectors.extended(matrix)
    return vectors


def packed(matrix: Matrix) -> bytes:
    """Pack passages with one row each."""
    return pack(matrix, [1] * len(matrix))


def unpacked(data: bytes, dimensions: int) -> Matrix:
    return unit(unpack([data], [len(data) // dimensions], dimensions)[0])


def test_a_row_takes_one_byte_a_number() -> None:
    assert packed(np.array([[0.5, -1.0, 0.25]], np.float32)) == bytes([64, 256 - 127, 32])


def test_passages_of_several_rows_say_how_many_before_the_rows() -> None:
    matrix = noise(6)
    data = pack(matrix, [1, 3, 2])
    assert data == bytes([1, 3, 2]) + packed(matrix)
    rows, [counts] = unpack([data], [3], 384)
    assert list(counts) == [1, 3, 2]
    assert np.array_equal(unit(rows), unpacked(packed(matrix), 384))


def test_what_was_kept_before_passages_had_segments_is_read() -> None:
    rows, [counts] = unpack([packed(noise(4))], [4], 384)
    assert rows.shape == (4, 384)
    assert list(counts) == [1, 1, 1, 1]


@pytest.mark.parametrize("counts", [[], [1], [3], [2, 0], [0, 1, 1]])
def test_rows_that_are_not_those_of_the_passages_are_refused(counts: list[int]) -> None:
    with pytest.raises(ValueError, match="2 rows are not those"):
        pack(noise(2), counts)


def test_packing_keeps_the_direction() -> None:
    matrix = noise(200)
    cosines = (unpacked(packed(matrix), 384) * matrix).sum(axis=1)
    assert cosines.min() > 0.999


@given(matrices)
def test_unpacked_rows_are_unit_or_zero(matrix: Matrix) -> None:
    norms = np.linalg.norm(unpacked(packed(matrix), 8), axis=1)
    np.testing.assert_allclose(norms, np.any(matrix != 0, axis=1), atol=1e-6)


@given(matrices)
def test_packing_what_was_unpacked_changes_nothing(matrix: Matrix) -> None:
    data = packed(matrix)
    assert packed(unpacked(data, 8)) == data


def test_packed_rows_can_be_joined() -> None:
    a, b = noise(3), noise(2, seed=2)
    assert packed(a) + packed(b) == packed(np.concatenate([a, b]))


def test_no_rows() -> None:
    assert packed(np.zeros((0, 384), np.float32)) == b""
    assert unpacked(b"", 384).shape == (0, 384)


def test_what_is_unpacked_together_is_as_unpacked_alone() -> None:
    several, one, none = noise(6), noise(1, seed=2), np.zeros((0, 384), np.float32)
    data = [pack(several, [1, 3, 2]), packed(one), packed(none), packed(np.zeros_like(one))]
    rows, counts = unpack(data, [3, 1, 0, 1], 384)
    assert [list(each) for each in counts] == [[1, 3, 2], [1], [], [1]]
    alone = [
        unpack([each], [number], 384)[0] for each, number in zip(data, (3, 1, 0, 1), strict=True)
    ]
    assert np.array_equal(rows, np.concatenate(alone))
    np.testing.assert_allclose(np.linalg.norm(unit(rows), axis=1), [1] * 7 + [0], atol=1e-6)
    assert np.allclose(filled(rows)[:], unit(rows), atol=1e-7)


def test_a_torn_row_is_refused() -> None:
    for torn in (b"", bytes(383), bytes([1]) + bytes(385), bytes([0]), bytes([2]) + bytes(384)):
        with pytest.raises(ValueError, match="bytes are no rows of 384 for 1 passages"):
            unpack([torn], [1], 384)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_number_that_is_none_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        packed(np.array([[1.0, bad]], np.float32))


def cosines_of(vectors: VectorRows, query: NDArray[np.float32]) -> NDArray[np.float32]:
    return compared(vectors[:], query, vectors.mean)[0]


def test_cosines_stand_in_order_of_insertion() -> None:
    first, second, query = noise(5), noise(300, seed=2), noise(1, seed=3)[0]
    vectors = filled(first, second)
    assert len(vectors) == 305
    expected = np.concatenate([first, second]) @ query
    np.testing.assert_allclose(cosines_of(vectors, query), expected, atol=1e-6)


def test_cosines_outlive_the_memory_they_came_from() -> None:
    vectors, query = filled(noise(10)), noise(1, seed=3)[0]
    cosines = cosines_of(vectors, query)
    kept = cosines.copy()
    assert len(vectors.extended(noise(5000, seed=4))) == 5010
    np.testing.assert_array_equal(cosines, kept)


def test_length_does_not_count() -> None:
    matrix, query = noise(4), noise(1, seed=3)[0]
    cosines = cosines_of(filled(matrix * 9), query * 5)
    np.testing.assert_allclose(cosines, matrix @ query, atol=1e-6)


def test_zero_is_near_nothing() -> None:
    vectors = filled(np.zeros((1, 384), np.float32), noise(1))
    assert cosines_of(vectors, noise(1)[0]) == pytest.approx([0.0, 1.0], abs=1e-6)
    assert cosines_of(vectors, np.zeros(384, np.float32)).tolist() == [0.0, 0.0]


def test_no_rows_yet() -> None:
    vectors, query = VectorRows(384).extended(np.zeros((0, 384), np.float32)), noise(1)[0]
    assert len(vectors) == 0
    assert cosines_of(vectors, query).shape == (0,)


def test_another_width_is_refused() -> None:
    vectors = filled(noise(1))
    with pytest.raises(ValueError, match="rows of 384"):
        vectors.extended(noise(1, dimensions=64))
    assert len(vectors) == 1


def test_rows_survive_the_buffer_they_were_put_in() -> None:
    first, query = noise(3), noise(1, seed=3)[0]
    vectors = filled(first)
    for seed in range(4, 14):
        vectors = vectors.extended(noise(seed, seed=seed))
        np.testing.assert_allclose(cosines_of(vectors, query)[:3], first @ query, atol=1e-6)
    assert len(vectors) == 3 + sum(range(4, 14))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), max_size=12))
def test_rows_stay_as_they_are_while_others_grow_from_them(growths: list[tuple[int, int]]) -> None:
    """They share a buffer: whoever grows from rows that something else has grown from gets another
    one."""
    query = noise(1, 8, seed=3)[0]
    every = [(VectorRows(8), np.zeros((0, 8), np.float32))]
    for number, (base, size) in enumerate(growths):
        rows, known = every[base % len(every)]
        more = noise(size, 8, seed=number)
        every.append((rows.extended(more), np.concatenate([known, more])))
    for rows, known in every:
        np.testing.assert_allclose(cosines_of(rows, query), known @ query, atol=1e-6)
        np.testing.assert_allclose(rows.mean, known.mean(axis=0) if len(known) else 0, atol=1e-6)


def test_added_in_steps_or_at_once_the_cosines_are_the_same_to_the_bit() -> None:
    matrix, query = noise(130), noise(1, seed=3)[0]
    steps = filled(*np.split(matrix, [1, 2, 5, 70]))
    np.testing.assert_array_equal(cosines_of(steps, query), cosines_of(filled(matrix), query))


def test_what_may_be_packed_vectors():
    rows = np.eye(6, dtype=np.float32)
    assert are_packed(pack(rows, [1] * 6), 6)
    assert are_packed(pack(rows, [2, 1, 3]), 3)
    assert not are_packed(pack(rows, [2, 1, 3])[:-1], 3)
    assert not are_packed(b"\0\1\1" + b"x" * 7, 3)
    assert are_packed(b"", 0)
    assert not are_packed(b"x", 0)


def test_what_all_rows_share_makes_none_of_them_near() -> None:
    """All rows lie along the first axis, as if each began with the same name."""
    dice = np.random.default_rng(5)
    own = dice.normal(size=(40, 8)).astype(np.float32)
    own[7] = 0
    shared = 8 * (own.any(axis=1, keepdims=True) * np.eye(8, dtype=np.float32)[0])
    rows = filled(unpacked(packed(own + shared), 8))
    query = own[3] * 0.1 + np.eye(8, dtype=np.float32)[0]
    query /= np.linalg.norm(query)
    kept = np.arange(40) != 7
    assert cosines_of(rows, query)[kept].min() > 0.8
    _, nearness = compared(rows[:], query, rows.mean)
    unit = rows[:] - rows.mean
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    wanted = unit @ (query - rows.mean) / np.linalg.norm(query - rows.mean)
    assert np.allclose(nearness[kept], wanted[kept], atol=1e-3)
    assert nearness[kept].min() < -0.5
    assert nearness[7] == 0


def test_the_mean_is_that_of_all_rows_and_a_row_alone_is_near_to_nothing() -> None:
    rows = VectorRows(3)
    assert not rows.mean.any()
    rows = rows.extended(np.array([[1, 0, 0], [0, 1, 0]], np.float32))
    rows = rows.extended(np.array([[0, 0, 1]], np.float32))
    assert np.allclose(rows.mean, 1 / 3)
    alone = np.array([[1, 0, 0]], np.float32)
    assert np.isfinite(compared(alone, alone[0], alone[0])).all()


# ------------------------------------------------------------------------------------------------
# Check what an answer is unfolded for.


def history(*messages):
    return read("t", [Message.of(one) for one in messages], Volatile())


def asked(*messages):
    return query_of(history(*messages))


def user(content):
    return {"role": "user", "content": content}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


def calling(content, *arguments):
    functions = [{"name": "grep", "arguments": json.dumps(each)} for each in arguments]
    calls = [
        {"id": f"c{number}", "type": "function", "function": function}
        for number, function in enumerate(functions)
    ]
    return assistant(content, tool_calls=calls)


def result(content, call="c0"):
    return {"role": "tool", "tool_call_id": call, "content": content}


LOOP = (
    user("Fix the parser."),
    calling("I will look for x." + "." * 900, {"p": "x"}),
    result("DUMP " * 500),
)


def test_a_given_query_wins():
    assert query_of(history(user("a")), "given") == Query.of("given")
    assert query_of(history(*LOOP), "given") == Query.of("given")


def test_the_newest_words_of_the_user():
    assert asked(user("old"), assistant("x"), user("new")) == Query("new", ("new",))
    assert asked(user("new"), assistant("x")) == Query.of("new")


def test_volatile_blocks_are_no_query():
    assert asked(user("<system-reminder>x</system-reminder>new")) == Query.of("new")


def test_in_a_tool_loop_text_and_call_are_meanings_and_dumps_are_none():
    found = asked(*LOOP)
    said, called = found.meanings
    assert said.startswith("I will look for x.")
    assert len(said) == SAID
    assert called == "grep x"
    assert found.words == f"Fix the parser.\n{said}\n{called}"


def test_arguments_are_read_without_escapes_and_every_call_has_its_share():
    edit = {"path": "src/a.py", "old": 'say("no")\nend', "new": "x" * 5_000}
    calls = calling("", edit, {"p": "b.py"})
    [called] = asked(user("Go."), calls, result("1"), result("2", "c1")).meanings
    assert called.startswith('grep src/a.py say("no")\nend xxx')
    assert called.endswith("\ngrep b.py")
    assert len(called) <= CALLED


def test_the_newest_calls_come_first_and_old_ones_are_not_read():
    rounds = [
        message
        for number in range(ROUNDS + 2)
        for message in (calling(f"Step {number}.", {"p": f"f{number}.py"}), result("ok"))
    ]
    newest = range(ROUNDS + 1, 1, -1)
    called = "\n".join(f"grep f{number}.py" for number in newest)
    assert asked(user("Fix it."), *rounds).meanings == (f"Step {ROUNDS + 1}.", called)


def test_a_silent_agent_said_its_last_text_before():
    silent = calling(None, {"p": "y"}), result("ok")
    assert asked(*LOOP, *silent).meanings[0].startswith("I will look for x.")


@pytest.mark.parametrize("said", ["continue", "Yes, go on.", "weiter", "ok, thanks"])
def test_an_acknowledgement_stands_for_the_request_before_it(said):
    """Both before the agent goes on, and while it does."""
    done = (*LOOP, assistant("That is done."), user(said))
    words = "Fix the parser.\nThat is done.\ngrep x"
    assert asked(*done) == Query(words, ("That is done.", "grep x"))
    again = asked(*done, calling("Next is z.", {"p": "z"}), result("ok"))
    words = "Fix the parser.\nNext is z.\ngrep z\ngrep x"
    assert again == Query(words, ("Next is z.", "grep z\ngrep x"))


def test_an_acknowledgement_without_a_request_adds_no_words():
    loop = (user("continue"), calling("", {"p": "x"}), result("ok"))
    assert asked(*loop) == Query.of("grep x")


def test_in_talk_an_acknowledgement_stays_what_is_asked():
    talk = user("Tell me of Graz."), assistant("It is a town."), user("go on")
    assert asked(*talk) == Query.of("go on")


def test_a_word_of_the_client_s_program_is_no_query():
    reminder = user("<system-reminder>x</system-reminder>")
    aside = Message(Message.of(user("The user has 3,000 tokens left.")).raw, True, aside=True)
    messages = [*map(Message.of, LOOP), Message(Message.of(reminder).raw, joined=True), aside]
    alone = query_of(history(*LOOP))
    assert query_of(read("t", messages, Volatile())) == alone
    assert query_of(read("t", messages[:-1], Volatile())) == alone
    said = Message(Message.of(user("Stop, and fix the lexer.")).raw, joined=True)
    stopped = query_of(read("t", [*messages, said], Volatile()))
    assert stopped == Query.of("Stop, and fix the lexer.")


def test_a_long_message_asks_at_its_ends():
    found = asked(user("Please explain. " + "x" * 50_000 + " What is wrong?")).words
    assert found.startswith("Please explain.")
    assert found.endswith("What is wrong?")
    assert len(found) <= REACH + 1


def test_a_history_without_a_user():
    assert asked(assistant("hi")) == Query.of("")
