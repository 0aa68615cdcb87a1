#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of docs/pictures from what `filters` and `video` give. Needs Pillow (PyPI).

Usage: scripts/run_with.sh pocl -- python3 scripts/pictures.py BUILD_FOLDER [OUTPUT_FOLDER]
"""
import pathlib
import subprocess
import sys
import tempfile

from PIL import Image


def frame_of(path, number):
    """A frame of a Y4M film in 4:2:0 or grey, as a picture."""
    data = path.read_bytes()
    header, rest = data.split(b"\n", 1)
    words = {word[:1]: word[1:] for word in header.decode().split()[1:]}
    width, height = int(words["W"]), int(words["H"])
    grey = words.get("C") == "mono"
    half = ((width + 1) // 2, (height + 1) // 2)
    sizes = [(width, height)] + ([] if grey else [half, half])
    at = number * (6 + sum(w * h for w, h in sizes)) + 6
    planes = []
    for size in sizes:
        planes.append(Image.frombytes("L", size, rest[at:at + size[0] * size[1]]).resize((width, height)))
        at += size[0] * size[1]
    return planes[0] if grey else Image.merge("YCbCr", planes).convert("RGB")


def beside(pictures, columns):
    """One picture of several of one size."""
    width, height = pictures[0].size
    rows = -(-len(pictures) // columns)
    whole = Image.new("RGB", (columns * (width + 4) - 4, rows * (height + 4) - 4), "white")
    for i, each in enumerate(pictures):
        whole.paste(each, (i % columns * (width + 4), i // columns * (height + 4)))
    return whole


def main(build, output):
    programs = pathlib.Path(build).resolve() / "bin"
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def run(program, *arguments):
            subprocess.run([programs / program, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL, cwd=folder)

        run("video", "--make", "--width", 320, "--height", 180, "--frames", 40, "film.y4m")
        run("video", "film.y4m", "result.y4m")
        number = 25
        film = [frame_of(folder / name, number) for name in ("film.y4m", "result.y4m")]
        beside(film, 2).quantize(96).save(output / "video.png", optimize=True)
        run("filters", "--input", "film.y4m", "--output", "filtered", "--rounds", 1, "--radius", 3)
        names = ["filtered-%s.y4m" % name for name in ("box", "median", "gaussian", "sobel")]
        beside([frame_of(folder / name, number) for name in names], 2).quantize(48).save(output / "filters.png", optimize=True)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else "docs/pictures"))
