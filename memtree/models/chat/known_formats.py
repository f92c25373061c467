"""Ask a server in the forms that it accepts, as they are known from its answers and refusals.

Whoever makes the calls is an argument: `ChatEndpoint` with its retries and limits, or a proxy with
the credential of its caller.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from memtree.models.chat.chat_reply import CallRefused, ChatReply
from memtree.models.chat.response_format import (
    CONTENT,
    FORMAT,
    SPARE,
    UNKNOWN,
    ResponseFormat,
    lesser,
)
from memtree.ports.models import ModelQuestion

FRUITLESS = 3  # empty answers in a row after which the form is considered the cause
TEXT_REFUSED = ChatReply("")  # told from a model's empty reply by its identity


class KnownFormats:
    """Formats known for one server and model, for the lifetime of this process."""

    def __init__(self) -> None:
        self.form = ResponseFormat()
        self._confirmed = False
        self._fruitless = 0

    async def ask(
        self, question: ModelQuestion, call: Callable[[ResponseFormat], Awaitable[ChatReply]]
    ) -> ChatReply:
        """Return the reply to a question, `TEXT_REFUSED` if the server refuses its text. `call`:
        makes one call in a form. Raises what it raises; `CallRefused` if no form is left."""
        form, said = await self._accepted(question, call, self.form)
        # An answer that began and was cut off is too long by itself; more room is only for
        # reasoning.
        begun = question.key in said.text.lower() or question.fruitful(said.text, not said.cut)
        if said.cut and not begun and (larger := self.grow(form)):
            _, said = await self._accepted(question, call, larger)
        return said

    async def _accepted(
        self,
        question: ModelQuestion,
        call: Callable[[ResponseFormat], Awaitable[ChatReply]],
        form: ResponseFormat,
    ) -> tuple[ResponseFormat, ChatReply]:
        """Return the reply, and the form in which the server accepted the call."""
        tried = form
        while True:
            try:
                said = await call(tried)
            except CallRefused as error:
                lesser_form = self.without(tried, error.about)
                if lesser_form is None and (error.about == CONTENT or self._confirmed):
                    return tried, TEXT_REFUSED
                if lesser_form is None:
                    raise
                tried = lesser_form
            else:
                useful = question.fruitful(said.text, not said.cut) or said.cut
                self.worked(tried, tried != form, useful)
                if said.thinks:
                    self.thinks()
                return tried, said

    def without(self, form: ResponseFormat, about: str) -> ResponseFormat | None:
        """Return the format to try after `form` was refused; None if the form is not the cause."""
        if about == CONTENT or (about == UNKNOWN and self._confirmed):
            return None
        return lesser(form, about)

    def worked(self, form: ResponseFormat, tried: bool, fruitful: bool) -> None:
        """Record an accepted form. `tried`: it was determined in this call, after refusals.
        `fruitful`: the answer was not empty."""
        if tried:
            self.form = form
        self._confirmed = True
        self._fruitless = 0 if fruitful else self._fruitless + 1
        if self._fruitless >= FRUITLESS and self.form.format:
            self.form = lesser(self.form, FORMAT) or self.form
            self._fruitless = 0

    def thinks(self) -> None:
        """Record that the model reasons before it answers: ask it to be brief, if it accepts
        that."""
        if not self.form.dull:
            self.form = replace(self.form, effort="low")

    def grow(self, form: ResponseFormat) -> ResponseFormat | None:
        """Return a form with more room, after an answer that used it up and was empty; None at the
        maximum."""
        larger = [spare for spare in SPARE if spare > form.spare]
        if not larger or not form.room:
            return None
        form = replace(form, spare=larger[0])
        self.form = replace(self.form, spare=max(self.form.spare, larger[0]))
        return form
