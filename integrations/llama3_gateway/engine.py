"""A turn from the request to the last byte of the answer, whole or streamed, retries included."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from time import perf_counter

import anyio

from llama3_gateway.advice import advised
from llama3_gateway.errors import BrokenOffError, GatewayError, UpstreamRefusal, shortened
from llama3_gateway.exchange import JSON, Exchange
from llama3_gateway.framing import read_object
from llama3_gateway.logs import LOGGER, log_fault
from llama3_gateway.metrics import RequestRecord
from llama3_gateway.refused_calls import RefusedCall, refused_call
from llama3_gateway.settings import GatewaySettings
from llama3_gateway.shapes import Chunk, Dialect, Piece, Shape, Usage, added_usage
from llama3_gateway.turns import ChoiceReader, Delta, Turn, require_content, unreadable
from llama3_gateway.upstream import UpstreamAnswer, UpstreamClient
from llama3_tools.chat import NOT_A_COMPLETION, Reply, Request

__all__ = ["Engine"]

_WHOLE = ("application/json", "text/html")
"""The media types of answers that may be no streams: nothing goes out until there is something of an answer."""
_NO_COMPLETION = "no_completion"
_MOST_CHOICES = 128
"""How many answers a stream may have that asks for fewer: each takes memory of its own."""
_MOST_KEPT = 1000
"""How many bytes of what is no answer are kept, to show them."""
_SECONDS_AFTER_DONE = 0.05
"""What an upstream has to end its answer after it has said that it is over. Then its connection is closed."""


@dataclass(frozen=True)
class Engine:
    """Answers one request with tools."""

    exchange: Exchange
    """The request, and the way back to its client."""
    client: UpstreamClient
    """Asks the upstream."""
    settings: GatewaySettings
    """How the gateway serves."""
    dialect: Dialect
    """What the upstream speaks."""
    shape: Shape
    """Writes what the client is answered."""

    @property
    def record(self) -> RequestRecord:
        """What is counted of the request."""
        return self.exchange.record

    async def answer(self, turn: Turn) -> None:
        """Answer, as a whole or as a stream, as the turn's request says.

        Raises:
            GatewayError: there is no answer, or none that can be read.
            UpstreamRefusal: the upstream answers with an error.
        """
        if self.record.is_stream:
            await _Stream(self, turn).run()
        else:
            await self._answer_whole(turn)

    @asynccontextmanager
    async def ask(self, turn: Turn) -> AsyncIterator[UpstreamAnswer | RefusedCall]:
        """Ask the upstream, and hand out its answer.

        Raises:
            GatewayError: there is none.
            UpstreamRefusal: it is an error.
        """
        began = perf_counter()
        body = turn.written()
        self.record.added += perf_counter() - began
        headers = self.exchange.asking_for(self.dialect.media if self.record.is_stream else JSON)
        upstream = turn.settings.upstream
        async with self.client.ask(upstream, "POST", self.dialect.path, headers=headers, body=body) as answer:
            if answer.status == HTTPStatus.OK:
                turn.hold.remember_refusal()
                yield answer
                return
            refusal = await answer.refusal()
            if (refused := refused_call(refusal)) is not None:
                yield refused
                return
            if not turn.drop_if_refused(refusal):
                raise advised(refusal, turn.settings, self.dialect.path, self.record.model)
        async with self.ask(turn) as asked_again:
            yield asked_again

    async def read_whole(self, answer: UpstreamAnswer | RefusedCall) -> tuple[dict[str, object], Chunk]:
        """Return a whole answer of the upstream's, and what it says.

        Raises:
            GatewayError: it is no completion.
        """
        data = await answer.whole(self.settings.max_answer)
        try:
            body = read_object(data, "the upstream's answer")
            return body, self.dialect.chunk(body)
        except BrokenOffError:
            raise _no_completion(data) from None

    async def _answer_whole(self, turn: Turn) -> None:
        async with self.ask(turn) as answer:
            body, chunk = await self.read_whole(answer)
        replies: list[Reply] = []
        usage = chunk.usage
        for piece in chunk.pieces:
            reply, used = await self._settled(turn, piece)
            replies.append(reply)
            usage = added_usage(usage, used)
        began = perf_counter()
        content = self.shape.whole(body, chunk.pieces, replies, usage)
        self.record.added += perf_counter() - began
        await self.exchange.answer(HTTPStatus.OK, content)

    async def _settled(self, turn: Turn, piece: Piece) -> tuple[Reply, Usage]:
        """Return what a choice is after all retries, and what those used."""
        reply = self._read(turn.request, piece)
        usage: Usage = None
        while again := turn.request.retry(reply):
            turn = turn.again(again)
            self.record.retries += 1
            try:
                async with self.ask(turn) as answer:
                    _, chunk = await self.read_whole(answer)
                usage = added_usage(usage, chunk.usage)
                if not chunk.pieces:
                    break
                reply = self._read(again, chunk.pieces[0])
            except (GatewayError, UpstreamRefusal) as error:
                if not again.earlier_is_text:
                    raise
                note_failed_retry(error)
                break
        return reply, usage

    def _read(self, request: Request, piece: Piece) -> Reply:
        began = perf_counter()
        require_content(piece.delta)
        try:
            reply = request.read(piece.delta, piece.finish_reason)
        except TypeError as error:
            raise unreadable(error) from None
        self.record.count(reply)
        self.record.added += perf_counter() - began
        return reply


class _Stream:
    """One streamed answer."""

    def __init__(self, engine: Engine, turn: Turn) -> None:
        self._engine = engine
        self._turn = turn
        self._exchange, self._record = engine.exchange, engine.record
        self._shape, self._dialect = engine.shape, engine.dialect
        self._settings = engine.settings
        asked = turn.fields.get("n")
        self._asked_for = asked if isinstance(asked, int) else 1
        """How many answers the client wants."""
        self._choices: dict[int, ChoiceReader] = {}
        self._extra: dict[int, dict[str, object]] = {}
        self._due: list[tuple[int, Request]] = []
        """Choices whose answer the model is to write again."""
        self._usage: Usage = None
        self._usage_of_round: Usage = None
        self._out: list[bytes] = []
        """What goes to the client with the next write."""
        self._has_begun = False
        self._came = b""
        """The first bytes of an answer, until it is known to be one."""

    async def run(self) -> None:
        try:
            await self._ask(self._turn, None)
            while self._due:
                index, request = self._due.pop(0)
                first = self._choices[index]
                self._record.retries += 1
                try:
                    await self._ask(self._turn.again(request), index)
                except (GatewayError, UpstreamRefusal) as error:
                    is_begun = self._choices[index] is not first and self._choices[index].has_begun
                    if is_begun or not request.earlier_is_text:
                        if isinstance(error, BrokenOffError) or not self._exchange.is_started:
                            raise
                        raise BrokenOffError(error.message, reason=error.reason) from error
                    note_failed_retry(error)
                    self._usage_of_round = None
                    self._give_up(index, request)
            self._out.append(self._shape.end(self._usage))
            await self._start()
            await self._exchange.finish(b"".join(self._out))
        except BrokenOffError as error:
            if not self._exchange.is_started:
                raise
            await self._fail(error)
        except Exception as error:
            if not self._exchange.is_started or self._exchange.is_finished:
                raise
            log_fault("a stream could not be answered, and broke off", error, self._record)
            fault = BrokenOffError("a fault of the gateway: its log says where", code="fault")
            await self._exchange.finish(self._shape.fail(fault))

    async def _ask(self, turn: Turn, index: int | None) -> None:
        """Ask, and hand the answer on.

        Args:
            turn: what is asked.
            index: the choice that is asked again; `None`: all are asked for the first time.
        """
        async with self._engine.ask(turn) as answer:
            if not answer.content_type.startswith(_WHOLE):
                await self._start()
            is_done = await self._read(turn, index, answer)
        self._end_round(turn, index, is_done=is_done)
        await self._flush()

    async def _start(self) -> None:
        if not self._exchange.is_started:
            headers = [(b"content-type", self._shape.content_type), (b"cache-control", b"no-cache")]
            await self._exchange.start(HTTPStatus.OK, headers)
            self._exchange.start_soon(self._keep_alive)

    async def _read(self, turn: Turn, index: int | None, answer: UpstreamAnswer | RefusedCall) -> bool:
        """Read a stream, and return whether the upstream has said that it is over.

        Raises:
            BrokenOffError: it broke off before its answers were over, or holds an error. After that, nothing breaks it.
        """
        reader = self._dialect.reader()
        pieces = answer.read(self._settings.max_answer)
        try:
            async for data in pieces:
                if not self._has_begun:
                    self._came = (self._came + data)[:_MOST_KEPT]
                self._take(turn, index, reader.feed(data))
                await self._flush()
                if reader.is_done:
                    with anyio.move_on_after(_SECONDS_AFTER_DONE):
                        async for _ in pieces:
                            pass
                    return True
            self._take(turn, index, reader.end())
        except BrokenOffError as error:
            if not reader.is_done and (error.body is not None or not self._has_answers(turn, index)):
                raise
        return reader.is_done

    def _has_answers(self, turn: Turn, index: int | None) -> bool:
        """Return whether all answers that were asked for are over."""
        if index is not None:
            choice = self._choices[index]
            return choice.request is turn.request and choice.is_over
        return len(self._choices) >= self._asked_for and all(choice.is_over for choice in self._choices.values())

    def _take(self, turn: Turn, index: int | None, chunks: Iterable[Chunk]) -> None:
        """Take what is read of a stream.

        Raises:
            BrokenOffError: it cannot be read any further, is not a stream at all, or holds an error.
        """
        began = perf_counter()
        try:
            for chunk in chunks:
                if chunk.pieces and not self._has_begun:
                    self._has_begun = True
                    self._out.append(self._shape.begin(chunk.head))
                if chunk.usage:
                    self._usage_of_round = chunk.usage
                for piece in chunk.pieces:
                    if index is None:
                        self._take_piece(turn, piece.index, piece)
                    elif piece.index == 0:
                        self._take_piece(turn, index, piece)
        except BrokenOffError as error:
            if self._has_begun or error.body is not None:
                raise
            raise _no_completion(self._came) from None
        finally:
            self._record.added += perf_counter() - began

    def _take_piece(self, turn: Turn, index: int, piece: Piece) -> None:
        choice = self._choices.get(index)
        if choice is None and len(self._choices) >= max(self._asked_for, _MOST_CHOICES):
            raise _ended("the upstream's stream has more answers than were asked for: its log may say why")
        if choice is None or choice.request is not turn.request:
            choice = ChoiceReader(turn.request, self._record)
            self._choices[index] = choice
        if choice.is_over:
            return
        deltas = choice.feed(piece.delta)
        if piece.extra:
            self._extra[index] = {**self._extra.get(index, {}), **piece.extra}
        if piece.finish_reason:
            deltas += choice.end(piece.finish_reason)
        has_logprobs = piece.logprobs or choice.waiting_logprobs
        logprobs = choice.logprobs(piece.logprobs, deltas) if has_logprobs else None
        if piece.finish_reason:
            self._settle(index, choice, deltas, logprobs)
        elif deltas or logprobs:
            self._tell(index, deltas, logprobs)

    def _settle(self, index: int, choice: ChoiceReader, deltas: list[Delta], logprobs: object) -> None:
        """Finish a choice that has ended, or have the model asked again."""
        again = choice.retry()
        if deltas or (logprobs and not again):
            self._tell(index, deltas, logprobs)
        if again:
            self._due.append((index, again))
        else:
            self._finish(index)

    def _tell(self, index: int, deltas: list[Delta], logprobs: object) -> None:
        self._out.append(self._shape.deltas(index, deltas, logprobs))

    def _give_up(self, index: int, request: Request) -> None:
        """Finish a choice with its answer so far, as the model says nothing more."""
        self._choices[index] = choice = ChoiceReader(request, self._record)
        self._settle(index, choice, choice.end(None), None)

    def _finish(self, index: int) -> None:
        self._out.append(self._shape.finish(index, self._choices[index], self._extra.get(index, {})))

    def _end_round(self, turn: Turn, index: int | None, *, is_done: bool) -> None:
        """Take the end of an upstream's stream.

        Raises:
            BrokenOffError: it has ended before its answers have.
        """
        self._usage = added_usage(self._usage, self._usage_of_round)
        self._usage_of_round = None
        if index is not None and self._choices[index].request is not turn.request:
            self._give_up(index, turn.request)  # asked again, the upstream has said nothing
            return
        if not self._choices:
            raise _no_completion(self._came)
        unfinished = [(each, choice) for each, choice in self._choices.items() if not choice.is_over]
        if unfinished and not is_done:
            raise _ended("the upstream's stream ended before its answer did: its log may say why")
        for each, choice in unfinished:
            deltas = choice.end(None)
            self._settle(each, choice, deltas, choice.logprobs(None, deltas))

    async def _flush(self) -> None:
        data = b"".join(self._out)
        self._out.clear()
        if data:
            await self._start()
            await self._exchange.write(data)

    async def _fail(self, error: BrokenOffError) -> None:
        """Hand out what was held back, as text, and say that the stream broke off."""
        LOGGER.warning("a stream broke off: %s", type(error).__name__)
        self._record.reason = error.reason
        for index, choice in self._choices.items():
            deltas = choice.abort()
            if deltas:
                self._tell(index, deltas, None)
        self._out.append(self._shape.fail(error))
        await self._exchange.finish(b"".join(self._out))

    async def _keep_alive(self) -> None:
        exchange, seconds = self._exchange, self._settings.keepalive
        while not exchange.is_finished:
            idle = perf_counter() - exchange.last_written
            if idle >= seconds and not exchange.is_writing:
                await exchange.write(self._shape.keepalive())
            await anyio.sleep(seconds if idle >= seconds else seconds - idle)


def _no_completion(data: bytes) -> BrokenOffError:
    message = f"{NOT_A_COMPLETION} It has sent: {shortened(data.decode('utf-8', 'replace'))}"
    return BrokenOffError(message, code=_NO_COMPLETION, reason=NOT_A_COMPLETION)


def _ended(message: str) -> BrokenOffError:
    return BrokenOffError(message, reason=message)


def note_failed_retry(error: GatewayError | UpstreamRefusal) -> None:
    """Log that the model could not be asked again, so that its first answer stands."""
    LOGGER.warning("the model could not be asked again, and its first answer stands: status %s", error.status)
