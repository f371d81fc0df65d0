"""A streamed answer: the questions to the upstream, the answers that are read of each, and the way to the client."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from time import perf_counter
from typing import TYPE_CHECKING

import anyio

from llama3_gateway.advice import full_context
from llama3_gateway.errors import FAULT, BrokenOffError, GatewayError, no_completion
from llama3_gateway.exchange import Exchange
from llama3_gateway.logs import FIRST_IS_KEPT, LOGGER, log_fault
from llama3_gateway.metrics import RequestRecord
from llama3_gateway.shapes import Chunk, Delta, Piece, Shape, Usage, added_usage
from llama3_gateway.turns import ChoiceReader, Turn
from llama3_gateway.upstream import UpstreamAnswer
from llama3_tools.chat import Request

if TYPE_CHECKING:
    from llama3_gateway.engine import Engine

_WHOLE = ("application/json", "text/html")
"""The media types of answers that may be no streams: nothing goes out until there is something of an answer."""
_MOST_CHOICES = 128
"""How many answers a stream may have that asks for fewer: each takes memory."""
_MOST_KEPT = 1000
"""How many bytes are kept of a body that is not an answer, to show them."""
_SECONDS_AFTER_DONE = 0.05
"""What an upstream has to end its answer after it has said that it is over. Then its connection is closed."""


class Stream:
    """Asks, and asks again for the choices that are to be written anew, until the answer is over."""

    def __init__(self, engine: Engine, turn: Turn) -> None:
        self._engine = engine
        self._turn = turn
        self._exchange, self._shape = engine.exchange, engine.shape
        asked = turn.fields.get("n")
        self._writer = _Writer(engine.exchange, engine.shape, engine.settings.keepalive)
        self._choices = _Choices(asked if isinstance(asked, int) else 1, engine.shape, self._writer, engine.record)
        self._usage: Usage = None
        """The tokens of the questions that are over."""
        self._used: Usage = None
        """Those of the one under way."""
        self._came = b""
        """The first bytes of an answer, until it is known to be one."""

    async def run(self) -> None:
        """Answer.

        Raises:
            GatewayError: there is no answer, and nothing has gone out.
        """
        try:
            await self._ask(self._turn)
            while self._choices.due:
                await self._ask_again(*self._choices.due.pop(0))
            self._writer.add(self._shape.end(self._usage))
            await self._writer.finish()
        except BrokenOffError as error:
            if not self._exchange.is_started:
                raise
            await self._fail(error)
        except Exception as error:
            if not self._exchange.is_started or self._exchange.is_finished:
                raise
            log_fault("a stream could not be answered, and broke off", error, self._engine.record)
            fault = BrokenOffError(FAULT, code="fault")
            await self._exchange.finish(self._shape.fail(fault))

    async def _ask(self, turn: Turn, index: int | None = None) -> None:
        """Ask for all choices, or for the one of an index anew."""
        question = _Question(turn.request, index)
        self._used = None
        async with self._engine.ask(turn) as answer:
            if not answer.content_type.startswith(_WHOLE):
                await self._writer.start()
            is_done = await self._read_stream(answer, question)
        if not self._choices.readers:
            raise no_completion(self._came)
        self._choices.end(question, is_done=is_done)
        self._usage = added_usage(self._usage, self._used)
        await self._writer.flush()

    async def _read_stream(self, answer: UpstreamAnswer, question: _Question) -> bool:
        """Read a stream, and return whether the upstream has said that it is over.

        Raises:
            BrokenOffError: it broke off before its answers were over, or contains an error. After that, nothing does.
        """
        reader = self._engine.dialect.reader()
        pieces = answer.read(self._engine.settings.max_answer)
        try:
            async for data in pieces:
                if not self._writer.has_begun:
                    self._came = (self._came + data)[:_MOST_KEPT]
                self._take(reader.feed(data), question)
                await self._writer.flush()
                if reader.is_done:
                    with anyio.move_on_after(_SECONDS_AFTER_DONE):
                        async for _ in pieces:
                            pass
                    break
            else:
                self._take(reader.end(), question)
        except BrokenOffError as error:
            if not reader.is_done and (error.body is not None or not self._choices.are_over(question)):
                raise
        return reader.is_done

    def _take(self, chunks: Iterable[Chunk], question: _Question) -> None:
        began = perf_counter()
        try:
            for chunk in chunks:
                self._writer.begin(chunk)
                self._used = chunk.usage or self._used
                for piece in chunk.pieces:
                    self._choices.take(piece, question)
        except BrokenOffError as error:
            if self._writer.has_begun or error.body is not None:
                raise
            raise no_completion(self._came) from None
        finally:
            self._engine.record.added += perf_counter() - began

    async def _ask_again(self, index: int, request: Request) -> None:
        """Have the model write a choice anew. Its first answer is kept if the second one has no word."""
        first = self._choices.readers[index]
        self._engine.record.retries += 1
        try:
            await self._ask(self._turn.again(request), index)
        except GatewayError as error:
            second = self._choices.readers[index]
            if request.earlier_is_text and (second is first or not second.has_begun):
                LOGGER.warning(FIRST_IS_KEPT, error.status)
                self._choices.give_up(index, request)
            elif isinstance(error, BrokenOffError) or not self._exchange.is_started:
                raise
            else:
                raise BrokenOffError(error.message, reason=error.reason) from error

    async def _fail(self, error: BrokenOffError) -> None:
        """Hand out what was held back, as text, and say that the stream broke off."""
        LOGGER.warning("a stream broke off: %s", type(error).__name__)
        self._engine.record.reason = error.reason
        if is_full := full_context(HTTPStatus.BAD_REQUEST, error.body, error.message):
            error = BrokenOffError(is_full.message, code=is_full.code or "", status=is_full.status)
        self._choices.abort()
        self._writer.add(self._shape.fail(error))
        await self._writer.finish()


class _Writer:
    """The way to the client. If nothing goes out for a while, it says that the stream goes on."""

    def __init__(self, exchange: Exchange, shape: Shape, keepalive: float) -> None:
        self.has_begun = False
        """Whether there is something of an answer."""
        self._exchange = exchange
        self._shape = shape
        self._keepalive = keepalive
        self._out: list[bytes] = []
        """What goes out with the next write."""

    def begin(self, chunk: Chunk) -> None:
        """Write what comes before the first answer, once."""
        if chunk.pieces and not self.has_begun:
            self.has_begun = True
            self.add(self._shape.begin(chunk.head))

    def add(self, data: bytes) -> None:
        """Write, for the next time that something goes out."""
        self._out.append(data)

    async def start(self) -> None:
        """Send the head."""
        if not self._exchange.is_started:
            headers = [(b"content-type", self._shape.content_type), (b"cache-control", b"no-cache")]
            await self._exchange.start(HTTPStatus.OK, headers)
            self._exchange.start_soon(self._keep_alive)

    async def flush(self) -> None:
        """Send what was written."""
        data = b"".join(self._out)
        self._out.clear()
        if data:
            await self.start()
            await self._exchange.write(data)

    async def finish(self) -> None:
        """Send what was written, and the end."""
        await self.start()
        await self._exchange.finish(b"".join(self._out))

    async def _keep_alive(self) -> None:
        exchange, seconds = self._exchange, self._keepalive
        while not exchange.is_finished:
            idle = perf_counter() - exchange.last_written
            if idle >= seconds and not exchange.is_writing:
                await exchange.write(self._shape.keepalive())
            await anyio.sleep(seconds if idle >= seconds else seconds - idle)


@dataclass(frozen=True, slots=True)
class _Question:
    """A request to the model, for all choices or for one."""

    request: Request
    index: int | None
    """Of the choice that is asked for anew; `None` if all are asked for."""


class _Choices:
    """The answers, each of which is read and written by itself."""

    def __init__(self, asked_for: int, shape: Shape, writer: _Writer, record: RequestRecord) -> None:
        self.readers: dict[int, ChoiceReader] = {}
        self.due: list[tuple[int, Request]] = []
        """Choices whose answer the model is to write again."""
        self._asked_for = asked_for
        self._shape = shape
        self._writer = writer
        self._record = record
        self._extra: dict[int, dict[str, object]] = {}
        """What else the upstream says of each."""

    def are_over(self, question: _Question) -> bool:
        """Return whether all that were asked for have come to their end."""
        if question.index is not None:
            reader = self.readers[question.index]
            return reader.request is question.request and reader.is_over
        return len(self.readers) >= self._asked_for and all(reader.is_over for reader in self.readers.values())

    def take(self, piece: Piece, question: _Question) -> None:
        """Add what a chunk of the answer to a question says of a choice.

        Raises:
            BrokenOffError: it cannot be read, or there are more choices than were asked for.
        """
        if question.index is not None and piece.index:
            return
        index = piece.index if question.index is None else question.index
        reader = self.readers.get(index)
        if reader is None and len(self.readers) >= max(self._asked_for, _MOST_CHOICES):
            raise BrokenOffError("the upstream's stream has more answers than were asked for: its log may say why")
        if reader is None or reader.request is not question.request:
            reader = self.readers[index] = ChoiceReader(question.request, self._record)
        if reader.is_over:
            return
        deltas = reader.feed(piece.delta)
        if piece.extra:
            self._extra[index] = {**self._extra.get(index, {}), **piece.extra}
        if piece.finish_reason:
            self._settle(index, deltas + reader.end(piece.finish_reason), piece.logprobs)
            return
        logprobs = reader.logprobs(piece.logprobs, deltas) if piece.logprobs or reader.waiting_logprobs else None
        if deltas or logprobs:
            self._writer.add(self._shape.deltas(index, deltas, logprobs))

    def end(self, question: _Question, *, is_done: bool) -> None:
        """End the choices of which the upstream has not said why they are over.

        Raises:
            BrokenOffError: it has not said either that the stream `is_done`.
        """
        if question.index is not None and self.readers[question.index].request is not question.request:
            self.give_up(question.index, question.request)
            return
        if not is_done and any(not reader.is_over for reader in self.readers.values()):
            raise BrokenOffError("the upstream's stream ended before its answer did: its log may say why")
        for index, reader in self.readers.items():
            if not reader.is_over:
                self._settle(index, reader.end(None), None)

    def give_up(self, index: int, request: Request) -> None:
        """End a choice with its answer so far, as the model says nothing more."""
        reader = self.readers[index] = ChoiceReader(request, self._record)
        self._settle(index, reader.end(None), None)

    def abort(self) -> None:
        """Write what was held back, as text."""
        for index, reader in self.readers.items():
            if deltas := reader.abort():
                self._writer.add(self._shape.deltas(index, deltas, None))

    def _settle(self, index: int, deltas: list[Delta], logprobs: object) -> None:
        """Write the end of a choice, or have the model asked again."""
        reader = self.readers[index]
        given = reader.logprobs(logprobs, deltas)
        again = reader.request.retry(reader.reply)
        if deltas or (given and not again):
            self._writer.add(self._shape.deltas(index, deltas, given))
        if again:
            self.due.append((index, again))
        else:
            self._writer.add(self._shape.finish(index, reader.reply.finish_reason, self._extra.get(index, {})))
