"""The HTTP client under the `openai` one, with a bound on how long a whole response may take."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from openai import DefaultAsyncHttpxClient


class BoundedClient(DefaultAsyncHttpxClient):
    """Takes a response that does not end in time as a timeout.

    httpx itself bounds each read, and a server that sends a byte now and then would never be done.
    """

    def __init__(self, seconds: float) -> None:
        """Make a client.

        Args:
            seconds: how long one attempt may take, from the request to the end of the response.
        """
        super().__init__(timeout=seconds)
        self._seconds = seconds

    async def send(self, request: Any, **options: Any) -> Any:  # noqa: ANN401 - those of httpx, or of httpx2
        """Send a request, and read the whole response.

        Raises:
            ReadTimeout: it did not end in time; that of httpx2 from openai 3 on.
        """
        try:
            return await asyncio.wait_for(super().send(request, **options), self._seconds)
        except asyncio.TimeoutError:
            httpx = sys.modules[type(request).__module__.partition(".")[0]]
            raise httpx.ReadTimeout("the response did not end in time", request=request) from None
