"""Remember the earlier requests of a conversation, to compute what memory saved on each request.

Kept in this process: for each address at which a request ended, its time by model, the
conversation's total savings by then, over all models, and the address of its first request; no
text. Requests of earlier or other processes are looked up in the log, once.
`memtree.budget.prices` computes what a request saved. Also kept, by tenant and model: how well the
provider caches.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from memtree.budget.prices import CacheEvidence, Prompt, ProviderUsage, evidence_of, saved
from memtree.context.answer import Answer, PostedSizes
from memtree.errors import MemTreeError
from memtree.ports.request_log import RequestLog
from memtree.process.bounded import remember

REACH = 512  # newest addresses that are searched for the previous request
MOST = 10_000  # requests that are kept: some 5 MB


class Saving(NamedTuple):
    """`saved`: what memory saved on a request; `before`: on the earlier ones of its conversation,
    both in uncached input tokens. `turn`: number of the request within its epoch, from 1; 0 if
    unknown. `caching`: what the request shows of the provider's cache. `first`: address of the
    conversation's first known request; empty if unknown."""

    saved: int = 0
    before: int = 0
    turn: int = 0
    caching: CacheEvidence = CacheEvidence()
    first: bytes = b""

    @property
    def total(self) -> int:
        return self.before + self.saved


class SentRequest(NamedTuple):
    """The newest request with a model that ended at an address. `whole`: nothing was folded."""

    time: float
    epoch: str
    turn: int
    whole: bool = False


class _Earlier(NamedTuple):
    """The requests of a conversation so far. `total`: what memory saved on them; `first`: address
    of the first."""

    total: int
    first: bytes


class _Turn(NamedTuple):
    """A request beside the one before it. `number`: as `Saving.turn`. `sure`: the beginning of what
    is sent is known to be what the provider was sent before."""

    posted: Prompt
    sent: Prompt
    number: int
    sure: bool


NOTHING = Saving()
_Key = tuple[str, str, bytes]


class SentRequests:
    """Requests of one process. `log`: None if requests of other processes are not looked up."""

    def __init__(self, log: RequestLog | None = None, *, most: int = MOST) -> None:
        self._log, self._most = log, most
        self._ended: OrderedDict[_Key, SentRequest] = OrderedDict()
        self._earlier: OrderedDict[tuple[str, bytes], _Earlier] = OrderedDict()
        self._caching: OrderedDict[tuple[str, str], CacheEvidence] = OrderedDict()

    async def recall(self, tenant: str, model: str, answer: Answer) -> None:
        """Look the previous request up in the log, if this process has not seen it."""
        addresses = _newest(answer)
        if self._log is None or len(addresses) < 2:
            return
        try:
            if self._before(tenant, model, answer) is None:
                row = await self._log.previous_request(tenant, model, addresses)
                if row is not None:
                    whole = not row.epoch and row.sent_tokens == row.posted_tokens
                    sent = SentRequest(row.time, row.epoch.hex(), row.turn, whole)
                    remember(self._ended, (tenant, model, row.address), sent, self._most)
            if self._so_far(tenant, answer) is None:
                row = await self._log.previous_request(tenant, None, addresses)
                if row is not None:
                    earlier = _Earlier(row.saved_before + row.saved_tokens, row.conversation)
                    remember(self._earlier, (tenant, row.address), earlier, self._most)
        except MemTreeError:
            return  # this request counts as the first

    def saving(
        self,
        tenant: str,
        model: str,
        answer: Answer,
        now: float,
        usage: ProviderUsage | None = None,
        *,
        several: bool = False,
    ) -> Saving:
        """Compute what memory saved on a request that came at `now` (unix seconds). `usage`,
        `several`: as in `prices.saved`."""
        if answer.sizes is None:
            return NOTHING
        turn = self._turn(tenant, model, answer, answer.sizes, now)
        total, first = self._so_far(tenant, answer) or _Earlier(0, answer.address)
        own = evidence_of(turn.sent, usage, several=several) if turn.sure else CacheEvidence()
        if not answer.changed:
            return Saving(0, total, turn.number, own, first)
        share = self._caching.get((tenant, model), CacheEvidence()).share(own)
        prices = answer.sizes.prices
        savings = saved(turn.posted, turn.sent, prices, usage, several=several, share=share)
        return Saving(savings, total, turn.number, own, first)

    def note(
        self,
        tenant: str,
        model: str,
        answer: Answer,
        now: float,
        saving: Saving,
    ) -> None:
        """Record that the provider has answered this request, with what `saving` returned for
        it."""
        if saving.caching.expected:
            earlier = self._caching.get((tenant, model), CacheEvidence())
            shown = earlier.followed_by(saving.caching)
            remember(self._caching, (tenant, model), shown, self._most)
        sent = SentRequest(now, answer.epoch or "", saving.turn, not answer.changed)
        remember(self._ended, (tenant, model, answer.address), sent, self._most)
        so_far = _Earlier(saving.total, saving.first or answer.address)
        remember(self._earlier, (tenant, answer.address), so_far, self._most)

    def _turn(
        self, tenant: str, model: str, answer: Answer, sizes: PostedSizes, now: float
    ) -> _Turn:
        before, length = self._before(tenant, model, answer) or (None, 0)
        goes_on = before is not None and bool(answer.epoch) and before.epoch == answer.epoch
        number = (before.turn + 1 if before and before.turn else 0) if goes_on else 1
        if not answer.epoch or (answer.continued and not goes_on):
            number = 0
        warm = before is not None and now - before.time <= sizes.prices.lifetime
        posted = Prompt(
            sizes.fixed + sizes.totals[-1], sizes.fixed + sizes.totals[length] if warm else 0
        )
        if not answer.changed:
            return _Turn(posted, posted, number, before is not None and before.whole)
        sent = Prompt(
            answer.sent_tokens - answer.system_tokens + sizes.fixed,
            (answer.stays if goes_on else sizes.fixed) if warm else 0,
        )
        return _Turn(posted, sent, number, goes_on)

    def forget(self, tenant: str | None) -> None:
        """Forget a tenant's requests, because something of it was deleted (None: of an unknown
        tenant)."""
        for key in [key for key in self._ended if tenant in (None, key[0])]:
            del self._ended[key]
        for key_ in [key_ for key_ in self._earlier if tenant in (None, key_[0])]:
            del self._earlier[key_]
        for model in [model for model in self._caching if tenant in (None, model[0])]:
            del self._caching[model]

    def _before(self, tenant: str, model: str, answer: Answer) -> tuple[SentRequest, int] | None:
        """Return the newest request whose history is a prefix of this one, and its length."""
        for place, address in enumerate(_newest(answer)):
            if (sent := self._ended.get((tenant, model, address))) is not None:
                assert answer.sizes is not None
                return sent, len(answer.sizes.addresses) - 1 - place
        return None

    def _so_far(self, tenant: str, answer: Answer) -> _Earlier | None:
        """Return the conversation before this request; None if this process has seen no request
        whose history is a prefix of this one's."""
        known = ((tenant, address) for address in _newest(answer))
        return next((self._earlier[each] for each in known if each in self._earlier), None)


def _newest(answer: Answer) -> Sequence[bytes]:
    """Return the addresses of the posted history, newest first; the empty history has none."""
    if answer.sizes is None:
        return ()
    addresses = answer.sizes.addresses
    return addresses[max(1, len(addresses) - REACH) :][::-1]
