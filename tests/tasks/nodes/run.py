#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts a machine of 8 memory nodes with cores and one without, with Debian's kernel and the guest as its first process. Usage: run.py GUEST

Emulated: some 10 seconds of processor time, and the same everywhere; nested KVM hung on the machine that this was written on. Exit status 0 if
the guest found all right.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# As topology::opteron_48() has them.
DISTANCES = """10 16 16 22 16 22 16 22
16 10 22 16 16 22 22 16
16 22 10 16 16 16 16 16
22 16 16 10 16 16 22 22
16 16 16 16 10 16 16 22
22 22 16 16 16 10 22 16
16 22 16 22 16 22 10 16
22 16 16 22 22 16 16 10"""


def add_file(folder, path):
    target = folder / str(path).lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, target)


def make_image(guest, image):
    """An initial file system: the guest as /init, and the libraries that it is linked with."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(guest, folder / "init")
        listed = subprocess.run(["ldd", guest], text=True, capture_output=True, check=True).stdout
        for library in re.findall(r"(/\S+) \(0x", listed):
            add_file(folder, library)
        names = "".join(f"{path.relative_to(folder)}\n" for path in sorted(folder.rglob("*")))
        with open(image, "wb") as file:
            subprocess.run(["cpio", "--quiet", "-o", "-H", "newc"], input=names.encode(), stdout=file, cwd=folder, check=True)


def main():
    guest = sys.argv[1]
    kernels = sorted(pathlib.Path("/boot").glob("vmlinuz-*"))
    qemu = shutil.which("qemu-system-x86_64")
    if not kernels or not qemu or not shutil.which("cpio"):
        sys.exit("no kernel in /boot, qemu-system-x86_64 or cpio (scripts/setup.sh nodes)")
    with tempfile.TemporaryDirectory() as name:
        image = pathlib.Path(name, "image")
        make_image(guest, image)
        command = [qemu, "-nographic", "-no-reboot", "-nodefaults", "-serial", "stdio", "-m", "2176", "-smp", "8,sockets=8",
                   "-kernel", str(kernels[-1]), "-initrd", str(image), "-append", "console=ttyS0 quiet panic=-1 no_timer_check rdinit=/init"]
        command += ["-cpu", "qemu64", "-accel", "tcg"]
        for node in range(8):
            command += ["-object", f"memory-backend-ram,id=m{node},size=256M", "-numa", f"node,nodeid={node},cpus={node},memdev=m{node}"]
        command += ["-object", "memory-backend-ram,id=m8,size=128M", "-numa", "node,nodeid=8,memdev=m8"]
        rows = [row.split() + ["28"] for row in DISTANCES.splitlines()] + [["28"] * 8 + ["10"]]
        for node, row in enumerate(rows):
            for other, value in enumerate(row):
                command += ["-numa", f"dist,src={node},dst={other},val={value}"]
        done = subprocess.run(command, text=True, capture_output=True, errors="replace", timeout=280, stdin=subprocess.DEVNULL, check=False)
    print(done.stdout, done.stderr)
    sys.exit(0 if "guest: all right" in done.stdout else 1)


if __name__ == "__main__":
    main()
