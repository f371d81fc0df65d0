"""One extractor for all: threads, tasks, processes and copies give what one gives alone."""

from __future__ import annotations

import asyncio
import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import pytest

from chunkings import read
from fragments import READINGS, TOOLS
from llama3_tools import Extraction, Extractor, extract
from sharing import OUTPUTS, THREADS, in_tasks, in_threads, pieces


def streamed(extractor: Extractor, output: str) -> Extraction:
    return read(pieces(output), extractor)[1]


@pytest.mark.parametrize("extractor", READINGS.values(), ids=READINGS)
def test_threads_share_an_extractor(extractor: Extractor):
    expected = [extractor.extract(output) for output in OUTPUTS]

    def run(number: int) -> list[bool]:
        rotated = [(index + number) % len(OUTPUTS) for index in range(len(OUTPUTS))]
        return [
            (streamed if number % 2 else Extractor.extract)(extractor, OUTPUTS[index]) == expected[index]
            for index in rotated
        ]

    assert all(all(result) for result in in_threads(run))


def test_threads_make_extractors_and_call_the_function_at_once():
    expected = [extract(output, tools=TOOLS, formats="all", lenient=True) for output in OUTPUTS]

    def run(_: int) -> list[Extraction]:
        return [extract(output, tools=TOOLS, formats="all", lenient=True) for output in OUTPUTS]

    assert in_threads(run) == [expected] * THREADS


async def test_tasks_share_an_extractor():
    extractor = READINGS["all"]
    expected = [extractor.extract(output) for output in OUTPUTS]

    async def run(number: int) -> bool:
        stream, output = extractor.stream(), OUTPUTS[number % len(OUTPUTS)]
        for piece in pieces(output):
            stream.feed(piece)
            await asyncio.sleep(0)  # all the others go on
        stream.flush()
        return stream.extraction == expected[number % len(OUTPUTS)]

    assert all(await in_tasks(run))


async def test_ids_are_unique_across_threads_and_tasks():
    output = '{"name": "f", "parameters": {}}' * 4

    async def run() -> list[str]:
        found = await asyncio.to_thread(extract, output)
        return [call.id for call in (*found.tool_calls, *extract(output).tool_calls)]

    ids = [one for found in await asyncio.gather(*(run() for _ in range(100))) for one in found]
    assert len(set(ids)) == len(ids) == 800


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("extractor", READINGS.values(), ids=READINGS)
def test_a_copy_reads_the_same_whatever_the_options(extractor: Extractor, protocol: int):
    pickled = pickle.loads(pickle.dumps(extractor, protocol))  # noqa: S301 - our own bytes
    for other in (pickled, copy.copy(extractor), copy.deepcopy(extractor)):
        for output in OUTPUTS:
            assert other.extract(output) == extractor.extract(output)
            assert streamed(other, output) == extractor.extract(output)


def test_processes_take_an_extractor_and_give_extractions_back():
    extractor = Extractor(tools=TOOLS, coerce_arguments=True, formats="all", lenient=True, split_reasoning=True)
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(extractor.extract, OUTPUTS, chunksize=12))
    assert found == [extractor.extract(output) for output in OUTPUTS]
