"""Does a model see what an agent needs next? Recorded sessions are cut before messages of the
agent, and looked for is what it used then from the history before the newest round: specific
strings, old lines of its edit, lines that it looks up once more (`agent_needs`).

`fresh`: one answer for each cut. `stable` and `auto`: the turns before a cut are replayed one by
one, under a hard target, or under the soft one of the defaults. Plain rivals stand beside them
(`agent_rivals`); with `auto`, the newest text with as many tokens as it sent.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import statistics
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.invariants import SYSTEM, size
from benchmarks.kept_vectors import KeptVectors
from benchmarks.recall import agent_points, agent_rivals
from benchmarks.recall.agent_needs import Session, Visible, content, plain
from benchmarks.recall.agent_points import Point
from benchmarks.recall.agent_rivals import Rivals, Shown, newest
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, open_subject
from memtree.context.context_memory import CompressRequest
from memtree.history.message import Message
from tests.answered import Answered

MODES = ("fresh", "stable", "auto")
TARGETS = (8_000, 20_000)
SOFT = 20_000  # tokens of the default target
WINDOW = 128_000
REPLAYED = 60  # turns before a cut that are replayed at most
CHECKED = 10  # an answer in so many is checked
ROOM = 1_000  # tokens beside the newest round: where the target has less, a point is left out
MEASURES = ("needs", "near", "far", "old", "again")
GOALS = {  # share of needs, old lines, lines looked up again
    ("fresh", 8_000): (82, 75, 69),
    ("fresh", 20_000): (94.5, 94, 86),
    ("stable", 8_000): (75, 60, 57),
    ("stable", 20_000): (91, 90, 76),
    ("auto", SOFT): (90, 92, 75),
}
LARGE_GOALS = {8_000: (75, 74), 20_000: (88, 90)}

Posted = tuple[str, list[bytes]]  # a session: its id and messages
Result = tuple[dict[str, Any], int, list[str]]  # points by id, answers checked, broken promises
Figures = dict[str, Any]  # of one answer: share of each measure, tokens, and what is not visible


@dataclass(frozen=True, slots=True)
class Plan:
    """Says what is to be measured. `vectors`: the file in which vectors are kept. `known`: points
    of an earlier run by id, whose rivals are not measured again."""

    targets: tuple[int, ...]
    modes: tuple[str, ...]
    points: int
    rivals: bool
    vectors: Path | None
    known: Mapping[str, Any]


def add_options(parser: argparse.ArgumentParser) -> None:
    options = parser.add_argument_group("next")
    options.add_argument("--sets", type=_names, default=None, help=",".join(agent_points.SETS))
    options.add_argument("--targets", type=_numbers, default=TARGETS, metavar="N,N")
    options.add_argument("--modes", type=_names, default=("fresh",), help=",".join(MODES))
    options.add_argument("--points", type=int, default=agent_points.POINTS, help="of a session")
    options.add_argument("--rivals", action=argparse.BooleanOptionalAction, default=True)
    options.add_argument("--jobs", type=int, default=1, help="processes")
    options.add_argument("--half", choices=("dev", "held"), help="of the sessions; default: both")
    options.add_argument("--only", default="", metavar="TEXT", help="sessions with TEXT in the id")
    options.add_argument(
        "--worst", type=int, default=0, metavar="N", help="tell the N worst points"
    )
    options.add_argument("--vectors", type=Path, metavar="FILE", help="keep vectors there")


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    options = bench.options or _defaults()
    sets = options.sets or (agent_points.SETS if bench.long else agent_points.FAST)
    chosen = agent_points.sessions(bench.data, sets, options.half, whole=bench.long)
    sessions = [session for session in chosen if options.only in session.id]
    plan = Plan(
        options.targets,
        options.modes,
        options.points,
        options.rivals,
        options.vectors,
        bench.earlier.get("points", {}),
    )
    posted = [(session.id, [m.raw for m in session.messages]) for session in sessions]
    points: dict[str, Any] = {}
    checked, broken = 0, list[str]()
    bench.kept["points"] = dict(plan.known)
    async for found, answers, lines in _each(partial(_measured, plan), posted, options.jobs):
        points |= found
        checked += answers
        broken += lines
        bench.kept["points"] |= found
        bench.save()
    print(table(points.values(), plan))
    if options.worst:
        print(worst(points, plan, options.worst))
    rows = [Row("sessions", len(sessions)), Row("points", len(points))]
    return [*rows, *_rows(points.values(), plan), *promises(checked, len(broken))], broken


async def _each(
    work: Callable[[Posted], Result], posted: list[Posted], jobs: int
) -> AsyncIterator[Result]:
    """Yield the results of all sessions as they come. Several processes begin with the longest."""
    posted.sort(key=lambda one: sum(map(len, one[1])), reverse=jobs > 1)
    if jobs == 1:
        for one in posted:
            yield await asyncio.to_thread(work, one)
        return
    context = multiprocessing.get_context("spawn")
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        for result in asyncio.as_completed([loop.run_in_executor(pool, work, p) for p in posted]):
            yield await result


def _defaults() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser.parse_args([])


def _measured(plan: Plan, posted: Posted) -> Result:
    return asyncio.run(_measure(plan, Session(posted[0], tuple(map(Message, posted[1])))))


async def _measure(plan: Plan, session: Session) -> Result:
    """Return the session's points with their figures, and how many answers were checked."""
    points = agent_points.points(session, plan.points)
    if not points:
        return {}, 0, []
    async with AsyncExitStack() as stack:
        subject = await stack.enter_async_context(open_subject(None, "next"))
        embedder = subject.runtime.embedder
        assert embedder is not None, subject.runtime.opened.trouble
        vectors = KeptVectors(embedder, plan.vectors)
        stack.callback(vectors.close)
        await subject.learn(session.id, session.messages)
        found = {point.id: described(point, plan.known) for point in points}
        if plan.rivals and any(_left(found[p.id], plan.targets) for p in points):
            rows = await vectors.embed(texts := list(vectors.embedded))
            rivals = Rivals(session, list(zip(texts, rows, strict=True)), embedder)
            for point in points:
                await _rivals(rivals, session, point, found[point.id], plan.targets)
        for mode in plan.modes:
            for target in plan.targets if mode != "auto" else (SOFT,):
                own = await _own(subject, session, points, target, mode)
                for id_, figures in own.items():
                    found[id_]["own"][f"{mode} {target}"] = figures
        return found, subject.tally.answers, subject.tally.broken


def described(point: Point, known: Mapping[str, Any]) -> dict[str, Any]:
    earlier = known.get(point.id, {})
    same = earlier.get("digest") == point.digest and earlier.get("version") == agent_rivals.VERSION
    return {
        "digest": point.digest,
        "version": agent_rivals.VERSION,
        "kind": point.kind,
        "behind": point.behind,
        "own": {},
        "rivals": earlier["rivals"] if same else {},
    }


def _left(found: Mapping[str, Any], targets: Iterable[int]) -> bool:
    return any(str(target) not in found["rivals"] for target in targets)


async def _rivals(
    rivals: Rivals, session: Session, point: Point, found: dict[str, Any], targets: Iterable[int]
) -> None:
    for target in targets:
        if str(target) in found["rivals"] or not fits(session, point, target):
            continue
        found["rivals"][str(target)] = {
            name: judged(point, await rivals.shown(name, point.cut, target), target)
            for name in agent_rivals.NAMES
        }


def fits(session: Session, point: Point, target: int) -> bool:
    """Return True if the target has room beside the newest round, which every answer holds."""
    return agent_rivals.whole(session, point.cut) + ROOM <= target


async def _own(
    subject: Subject, session: Session, points: Sequence[Point], target: int, mode: str
) -> dict[str, Figures]:
    by_cut = {point.cut: point for point in points if fits(session, point, target)}
    found: dict[str, Figures] = {}
    for number, cut in enumerate(turns_of(session, by_cut, running=mode != "fresh")):
        hard = mode != "auto"
        posted = session.messages[:cut]
        ask = CompressRequest(session.id, posted, target, hard, WINDOW, mode=mode)
        where = f"{session.id} before {cut} at {target}, {mode}"
        answer = await subject.compress(ask, where, check=number % CHECKED == 0)
        if point := by_cut.get(cut):
            sent = tuple(map(Message, answer.messages))
            shown = Shown(visible_text(sent), size(sent))
            figures = judged(point, shown, target if hard else None)
            figures["kinds"] = kinds(answer, posted)
            if not hard:
                figures["newest"] = judged(point, newest(session, cut, shown.tokens)[0], None)
            found[point.id] = figures
    return found


def turns_of(session: Session, cuts: Iterable[int], *, running: bool) -> list[int]:
    """Return the cuts, if `running` with the turns before each."""
    turns = [cut for cut in range(1, len(session.messages)) if session.is_cut(cut)]
    wanted = set(cuts)
    if not running or not wanted:
        return sorted(wanted)
    near = set[int]()
    for cut in wanted:
        near.update([turn for turn in turns if turn <= cut][-REPLAYED:])
    return sorted(near)


def visible_text(messages: Sequence[Message]) -> str:
    """Return everything that a model is sent, but for system messages."""
    sent = [message for message in messages if message.role not in SYSTEM]
    return "\n".join(part for m in sent for part in (content(m), plain(m)) if part)


def judged(point: Point, shown: Shown, target: int | None) -> Figures:
    """Return the share of each measure that is visible. `target`: an answer over it shows
    nothing."""
    visible = Visible(shown.text if target is None or shown.tokens <= target else "")
    wanted, near = point.wanted, (target or SOFT) // 2
    seen = {need.text: visible.has(need.text) for need in wanted.needs}

    def share(chosen: Sequence[Any]) -> float | None:
        whole = sum(need.weight for need in chosen)
        return sum(need.weight for need in chosen if seen[need.text]) / whole if whole else None

    old = [line for line in wanted.old if visible.holds(line)]
    again = [line for line in wanted.again if visible.holds(line)]
    return {
        "needs": share(wanted.needs),
        "near": share([need for need in wanted.needs if need.back <= near]),
        "far": share([need for need in wanted.needs if need.back > near]),
        "old": len(old) / len(wanted.old) if wanted.old else None,
        "again": len(again) / len(wanted.again) if wanted.again else None,
        "tokens": shown.tokens,
        "missing": {
            "needs": [[n.text, n.back] for n in wanted.needs if not seen[n.text]],
            "old": [line for line in wanted.old if line not in old],
            "again": [line for line in wanted.again if line not in again][:20],
        },
        "seen": [need.text for need in wanted.needs if seen[need.text]],
    }


def kinds(answer: Answered, posted: Sequence[Message]) -> dict[str, int]:
    """Return the tokens of an answer by kind."""
    spent = {k: v for k, v in answer.explain().get("spent", {}).items() if k != "reserved"}
    if not answer.changed:
        return {"recent": size(posted)}
    return {"recent": answer.recent_tokens, "recall": answer.recall_tokens, **spent}


# What is told


def table(points: Iterable[Mapping[str, Any]], plan: Plan) -> str:
    """Return one line for each way and target: shares in percent, points, median of tokens."""
    every = list(points)
    large = [point for point in every if point["behind"] > agent_points.LARGE]
    lines = [_head("all histories"), *_lines(every, plan)]
    if large:
        lines += [_head(f"histories over {agent_points.LARGE:,} tokens"), *_lines(large, plan)]
    spent = _spent(every, plan)
    return "\n".join([*lines, *spent])


def _head(title: str) -> str:
    columns = "".join(f"{name:>13}" for name in ("needs", "near", "far", "old lines", "re-read"))
    return f"\n{title:<34}{columns}{'tokens':>8}"


def _ways(plan: Plan) -> list[tuple[str, int, str]]:
    """Return (title, target, key of the figures)."""
    ways = []
    for target in plan.targets:
        ways += [
            (f"ours, {mode}", target, f"own {mode} {target}")
            for mode in plan.modes
            if mode != "auto"
        ]
        ways += [(name, target, f"rival {name} {target}") for name in agent_rivals.NAMES]
    if "auto" in plan.modes:
        ways += [("ours, auto", SOFT, f"own auto {SOFT}")]
        ways += [("newest with auto's tokens", SOFT, "newest auto")]
    return ways


def _figures(point: Mapping[str, Any], key: str) -> Figures | None:
    which, _, rest = key.partition(" ")
    if which == "own":
        return point["own"].get(rest)  # type: ignore[no-any-return]
    if which == "newest":
        return (point["own"].get(f"auto {SOFT}") or {}).get("newest")
    name, _, target = rest.partition(" ")
    return (point["rivals"].get(target) or {}).get(name)


def _lines(points: Sequence[Mapping[str, Any]], plan: Plan) -> list[str]:
    lines = []
    for title, target, key in _ways(plan):
        found = [figures for point in points if (figures := _figures(point, key))]
        if found:
            means = "".join(_mean(found, measure) for measure in MEASURES)
            median = statistics.median(figures["tokens"] for figures in found)
            lines.append(f"{target:>6}  {title:<26}{means}{median:>8,.0f}")
    return lines


def _mean(found: Sequence[Figures], measure: str) -> str:
    shares = [figures[measure] for figures in found if figures[measure] is not None]
    return f"{100 * statistics.mean(shares):>7.1f} ({len(shares):>3})" if shares else f"{'-':>13}"


def _spent(points: Sequence[Mapping[str, Any]], plan: Plan) -> list[str]:
    lines = ["", "tokens by kind, mean of an answer"]
    for title, target, key in _ways(plan):
        found = [figures for point in points if (figures := _figures(point, key))]
        sums = Counter[str]()
        for figures in found:
            sums.update(figures.get("kinds", {}))
        if sums:
            told = ", ".join(f"{kind} {sums[kind] / len(found):,.0f}" for kind in sums)
            lines.append(f"{target:>6}  {title:<14} {told}")
    return lines


def worst(points: Mapping[str, Any], plan: Plan, number: int) -> str:
    """Tell the points of which least is visible in the first mode at the first target."""
    mode = plan.modes[0]
    way = f"{mode} {SOFT if mode == 'auto' else plan.targets[0]}"
    lost = []
    for id_, point in points.items():
        if figures := point["own"].get(way):
            shares = [figures[one] for one in ("needs", "old", "again")]
            lost.append((sum(1 - share for share in shares if share is not None), id_, figures))
    lost.sort(key=lambda one: -one[0])
    lines = [f"\nworst points of {way}"]
    for _, id_, figures in lost[:number]:
        told = ", ".join(
            f"{one} {100 * figures[one]:.0f}" for one in MEASURES if figures[one] is not None
        )
        point = points[id_]
        lines.append(f"{id_} ({point['kind']}, {point['behind']:,} tokens): {told}")
        lines.append(f"  tokens {figures['tokens']:,}: {figures.get('kinds')}")
        rival = (point["rivals"].get(way.split()[1]) or {}).get("files")
        if rival:
            same = {one: round(100 * rival[one]) for one in MEASURES if rival[one] is not None}
            lines.append(f"  files in hand + newest: {same}")
        lines.append(f"  visible: {', '.join(figures['seen'][:15])}")
        missing = figures["missing"]
        lines += [f"  not visible: {text!r}, {back:,} back" for text, back in missing["needs"][:12]]
        lines += [f"  old line not visible: {line[:100]}" for line in missing["old"][:6]]
        lines += [f"  looked up again: {line[:100]}" for line in missing["again"][:6]]
    return "\n".join(lines)


def _rows(points: Iterable[Mapping[str, Any]], plan: Plan) -> list[Row]:
    every = list(points)
    rows = []
    for (mode, target), goals in GOALS.items():
        if mode not in plan.modes or (mode != "auto" and target not in plan.targets):
            continue
        for measure, goal in zip(("needs", "old", "again"), goals, strict=True):
            rows += _row(every, f"{mode} {target}", measure, goal, "")
        if mode == "fresh":
            large = [point for point in every if point["behind"] > agent_points.LARGE]
            for measure, goal in zip(("needs", "old"), LARGE_GOALS[target], strict=True):
                rows += _row(large, f"{mode} {target}", measure, goal, ", long histories")
    return rows


_TITLES = {"needs": "needs", "old": "old lines", "again": "re-read"}


def _row(
    points: Sequence[Mapping[str, Any]], way: str, measure: str, goal: float, suffix: str
) -> list[Row]:
    shares = [
        figures[measure]
        for point in points
        if (figures := point["own"].get(way)) and figures[measure] is not None
    ]
    if not shares:
        return []
    name = f"{way}, {_TITLES[measure]}{suffix}"
    return [Row(name, 100 * statistics.mean(shares), "%", goal)]
