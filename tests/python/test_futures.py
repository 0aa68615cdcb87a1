# SPDX-License-Identifier: Apache-2.0
"""The ends of transfers as futures."""

import asyncio
import threading

import causeway
import numpy as np
import pyopencl as cl
import pytest

from conftest import pattern, python

PATIENCE = 60


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.bin"


@pytest.fixture
def failing(machine, path):
    """A transfer that fails once its gate is open, and the gate."""
    path.write_bytes(b"too short")
    gate = cl.UserEvent(machine.context)
    with open(path, "rb") as file:
        event = causeway.enqueue_write_from_file(machine.out_of_order, machine.buffer(64), file, wait_for=[gate])
    return event, gate


def test_a_future_is_done_with_its_transfer(machine, path):
    contents = pattern(100_000)
    gate = cl.UserEvent(machine.context)
    with open(path, "wb") as file:
        event = causeway.enqueue_read_to_file(machine.out_of_order, machine.buffer(contents), file, wait_for=[gate])
    future = causeway.as_future(event)
    assert not future.done()
    gate.set_status(cl.command_execution_status.COMPLETE)
    assert future.result(PATIENCE) is event
    assert path.read_bytes() == contents.tobytes()


def test_a_future_has_the_exception_of_a_transfer_that_fails(failing):
    event, gate = failing
    future = causeway.as_future(event)
    gate.set_status(cl.command_execution_status.COMPLETE)
    error = future.exception(PATIENCE)
    assert isinstance(error, causeway.EndOfFileError) and error.info.bytes_moved == 9
    late = causeway.as_future(event)
    assert isinstance(late.exception(PATIENCE), causeway.EndOfFileError), "also when it is asked for later"


def test_many_futures_of_many_threads_are_done(machine, path):
    path.write_bytes(bytes(64))
    gate = cl.UserEvent(machine.context)
    buffer = machine.buffer(64)
    futures = []

    def enqueue():
        with open(path, "rb") as file:
            for _ in range(50):
                event = causeway.enqueue_write_from_file(
                    machine.out_of_order, buffer, file, file_offset=0, wait_for=[gate]
                )
                futures.append(causeway.as_future(event))

    threads = [threading.Thread(target=enqueue) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    gate.set_status(cl.command_execution_status.COMPLETE)
    assert all(causeway.transfer_info(each.result(PATIENCE)).status == 0 for each in futures)
    assert len(futures) == 200


def test_coroutines_await_transfers(machine, path, failing):
    event, gate = failing
    done = []

    async def tell(event):
        try:
            await causeway.completion(event)
            done.append("complete")
        except causeway.EndOfFileError:
            done.append("failed")

    async def main():
        waiting = asyncio.ensure_future(tell(event))
        await asyncio.sleep(0)
        assert not done, "the loop goes on"
        gate.set_status(cl.command_execution_status.COMPLETE)
        await asyncio.wait_for(waiting, PATIENCE)
        with open(path, "r+b") as file:
            whole = causeway.enqueue_read_to_file(machine.in_order, machine.buffer(pattern(64)), file)
        await asyncio.wait_for(tell(whole), PATIENCE)

    asyncio.run(main())
    assert done == ["failed", "complete"]


def test_what_is_no_transfer_is_refused(machine):
    with pytest.raises(causeway.Error) as caught:
        causeway.as_future(cl.UserEvent(machine.context))
    assert caught.value.code == cl.status_code.INVALID_EVENT
    with pytest.raises(TypeError, match="pyopencl.Event"):
        causeway.as_future(None)


def test_python_ends_with_futures_that_are_not_done():
    program = """
import causeway, numpy as np, pyopencl as cl, tempfile
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
gate = cl.UserEvent(context)
causeway.options.drain = 100
with tempfile.TemporaryFile() as file:
    event = causeway.enqueue_read_to_file(queue, cl.Buffer(context, cl.mem_flags.READ_WRITE, 64), file, wait_for=[gate])
future = causeway.as_future(event)
print("done", future.done())
"""
    run = python(program)
    assert run.returncode == 0 and run.stdout == "done False\n", run.stderr
