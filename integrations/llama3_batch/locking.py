"""A lock on an output, so that no two runs write it at once. The system frees it if the process dies."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold a lock on a file, which is there only while it is held, and yield whether it was free.

    Args:
        path: the file. Its folder is made.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = _opened(path)
    if descriptor is None:
        yield False
        return
    try:
        yield True
    finally:
        if sys.platform == "win32":  # where no open file can be removed
            os.close(descriptor)
            with suppress(OSError):
                path.unlink()
        else:  # removed while it is held, so that no other process can hold what is removed
            with suppress(OSError):
                path.unlink()
            os.close(descriptor)


def _opened(path: Path) -> int | None:
    """Return the descriptor of the locked file; `None`: another run holds it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        if not _lock(descriptor):
            os.close(descriptor)
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        os.close(descriptor)  # the run that held it has removed it since


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import errno
    import fcntl

    _NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
    """What a drive says that has no locks."""

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        return True
