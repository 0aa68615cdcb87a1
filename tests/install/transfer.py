# SPDX-License-Identifier: Apache-2.0
"""A transfer with an installed Python package. Usage: transfer.py FOLDER, below which the package has to be."""
import sys
import tempfile

import causeway
import numpy as np
import pyopencl as cl

assert causeway.__file__.startswith(sys.argv[1]), causeway.__file__
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
contents = np.arange(10_000)
buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=contents)
with tempfile.TemporaryFile() as file:
    causeway.enqueue_read_to_file(queue, buffer, file, blocking=True)
    file.seek(0)
    assert file.read() == contents.tobytes()
print("a transfer with", causeway._library.library._name)
