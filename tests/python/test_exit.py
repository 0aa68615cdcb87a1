# SPDX-License-Identifier: Apache-2.0
"""Python ends while transfers are in flight: they end first, in good order, and memory stays until then."""

import numpy as np
import pytest
from mpi4py import MPI

from conftest import pattern, python

pytestmark = pytest.mark.skipif(MPI.COMM_WORLD.size != 1, reason="starts programs of its own")

BEGIN = """
import sys
import causeway, numpy as np, pyopencl as cl
from mpi4py import MPI
context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
world, size = MPI.COMM_WORLD, 8_000_000
incoming = cl.Buffer(context, cl.mem_flags.READ_WRITE, size)
data = np.random.default_rng(5).integers(0, 256, size, np.uint8)
def store(received):
    with open(sys.argv[1], "wb") as file:
        causeway.enqueue_read_to_file(queue, incoming, file, wait_for=[received])
"""


SENDS = {
    "device": "outgoing = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=data)\n"
    "causeway.enqueue_send(queue, outgoing, world, 0); del outgoing",
    "host": "causeway.isend(data, world, 0)",
    "host request as event": "causeway.event_from_request(context, causeway.isend(data, world, 0))",
}
ENDS = {
    "the end of the program": "",
    "MPI.Finalize": "MPI.Finalize()",
    "sys.exit with an exit handler that uses MPI": "import atexit; atexit.register(world.Barrier); sys.exit(0)",
}


@pytest.mark.parametrize(
    ("send", "end"),
    [(send, "the end of the program") for send in SENDS] + [("host", end) for end in list(ENDS)[1:]],
)
def test_what_can_arrive_arrives(tmp_path, send, end):
    program = (
        f"{BEGIN}\nstore(causeway.enqueue_recv(queue, incoming, world, 0))\n{SENDS[send]}; del data\n{ENDS[end]}\n"
    )
    result = python(program, tmp_path / "file")
    assert (result.returncode, result.stderr) == (0, "")
    assert np.array_equal(np.fromfile(tmp_path / "file", np.uint8), pattern(8_000_000, 5))


def test_what_cannot_arrive_is_given_up(tmp_path):
    program = f"{BEGIN}\nreceived = causeway.enqueue_recv(queue, incoming, world, 0)\nstore(received)\n"
    result = python(program, tmp_path / "file", CAUSEWAY_DRAIN="300")
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "file").read_bytes() == b""


def test_a_raised_exception_does_not_hang(tmp_path):
    program = f"{BEGIN}\nstore(causeway.enqueue_recv(queue, incoming, world, 0))\nraise KeyError('lost')\n"
    result = python(program, tmp_path / "file", CAUSEWAY_DRAIN="300")
    assert result.returncode == 1
    assert "KeyError: 'lost'" in result.stderr
