"""A turn from the request to the last byte of the answer, whole or streamed, retries included."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from time import perf_counter

from llama3_gateway.advice import advised
from llama3_gateway.errors import BrokenOffError, GatewayError, no_completion
from llama3_gateway.exchange import JSON, Exchange
from llama3_gateway.framing import read_object
from llama3_gateway.logs import FIRST_IS_KEPT, LOGGER
from llama3_gateway.metrics import RequestRecord
from llama3_gateway.settings import GatewaySettings
from llama3_gateway.shapes import Chunk, Dialect, Piece, Shape, Usage, added_usage
from llama3_gateway.stream import Stream
from llama3_gateway.turns import ChoiceReader, Turn
from llama3_gateway.upstream import UpstreamAnswer, UpstreamClient, answer_with
from llama3_tools.chat import Reply, Request, failed_generation


@dataclass(frozen=True)
class Engine:
    """Answers one request with tools."""

    exchange: Exchange
    client: UpstreamClient
    settings: GatewaySettings
    dialect: Dialect
    shape: Shape

    @property
    def record(self) -> RequestRecord:
        """What is counted of the request."""
        return self.exchange.record

    async def answer(self, turn: Turn) -> None:
        """Answer, as a whole or as a stream, as the turn's request says.

        Raises:
            GatewayError: there is no answer, or none that can be read.
        """
        if self.record.is_stream:
            await Stream(self, turn).run()
        else:
            await self._answer_whole(turn)

    @asynccontextmanager
    async def ask(self, turn: Turn) -> AsyncIterator[UpstreamAnswer]:
        """Ask the upstream, and hand out its answer.

        Raises:
            GatewayError: there is none.
        """
        began = perf_counter()
        body = turn.to_json()
        self.record.added += perf_counter() - began
        headers = self.exchange.asking_for(self.dialect.media if self.record.is_stream else JSON)
        upstream = turn.settings.upstream
        async with self.client.ask(upstream, "POST", self.dialect.path, headers=headers, body=body) as answer:
            if answer.status == HTTPStatus.OK:
                turn.hold.remember_refusal()
                yield answer
                return
            refusal = await answer.refusal()
            if (text := failed_generation(refusal.read())) is not None:
                yield answer_with(text, upstream)
                return
            if (without := turn.without_what_was_refused(refusal)) is None:
                raise advised(refusal, turn.settings, self.dialect, self.record.model)
        async with self.ask(without) as asked_again:
            yield asked_again

    async def read_whole(self, answer: UpstreamAnswer) -> tuple[dict[str, object], Chunk]:
        """Return a whole answer of the upstream's, and what it says.

        Raises:
            GatewayError: it is not a completion.
        """
        data = await answer.whole(self.settings.max_answer)
        try:
            body = read_object(data, "the upstream's answer")
            return body, self.dialect.chunk(body)
        except BrokenOffError:
            raise no_completion(data) from None

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
        await self.exchange.answer(content)

    async def _settled(self, turn: Turn, piece: Piece) -> tuple[Reply, Usage]:
        """Return what a choice is after all retries, and what those used."""
        reply = self._reply_to(turn.request, piece)
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
                reply = self._reply_to(again, chunk.pieces[0])
            except GatewayError as error:
                if not again.earlier_is_text:
                    raise
                LOGGER.warning(FIRST_IS_KEPT, error.status)
                break
        return reply, usage

    def _reply_to(self, request: Request, piece: Piece) -> Reply:
        began = perf_counter()
        reader = ChoiceReader(request, self.record)
        reader.feed(piece.delta)
        reader.end(piece.finish_reason)
        self.record.added += perf_counter() - began
        return reader.reply
