# SPDX-License-Identifier: Apache-2.0
"""smith_waterman beside Biopython's aligner, and what it refuses. usage: smith_waterman_test.py PROGRAM"""

import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from Bio.Align import PairwiseAligner, substitution_matrices

PROGRAM = sys.argv[1]
LETTERS = "ARNDCQEGHILKMFPSTWYV"
random.seed(11)


def run(*arguments, status=0):
    result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == status, (arguments, result)
    return result


def protein(length):
    return "".join(random.choices(LETTERS, k=length))


def relative_of(sequence):
    """A part of a sequence, with substitutions, insertions and deletions, in strange surroundings."""
    begin = random.randrange(len(sequence) // 2)
    part = ""
    for letter in sequence[begin : begin + len(sequence) // 2]:
        chance = random.random()
        part += "" if chance < 0.05 else protein(1) if chance < 0.2 else letter
        part += protein(random.randrange(8)) if chance > 0.97 else ""
    return protein(random.randrange(50)) + part + protein(random.randrange(50))


def write_fasta(path, sequences, end="\n"):
    with open(path, "w", newline="") as file:
        for name, letters in sequences.items():
            file.write(f">{' ' * (name == 'spaced')}{name} and what it is{end}")
            for at in range(0, len(letters), 60):
                file.write(letters[at : at + 60] + end)


def scores_of(output):
    """By query and name."""
    found, query = {}, None
    for line in output.splitlines():
        if head := re.match(r"query (\S+)", line):
            query = head[1]
        elif query and (hit := re.match(r" *(\d+)  (\S+)$", line)):
            found[query, hit[2]] = int(hit[1])
    return found


def expected_scores(queries, database, opening, extension):
    aligner = PairwiseAligner(mode="local", substitution_matrix=substitution_matrices.load("BLOSUM62"))
    aligner.open_gap_score, aligner.extend_gap_score = -(opening + extension), -extension
    known = str.maketrans("UJO", "XXX")
    return {
        (query, name): int(max(0, aligner.score(letters.upper().translate(known), other.upper().translate(known))))
        for query, letters in queries.items()
        for name, other in database.items()
    }


def check_scores(folder):
    queries = {f"query{length}": protein(length) for length in (1, 15, 16, 17, 120)}
    database = {f"relative{number}": relative_of(queries["query120"]) for number in range(90)}
    database |= {f"stranger{number}": protein(random.randrange(1, 240)) for number in range(170)}
    database |= {
        "same": queries["query120"],
        "twice": 2 * queries["query120"],
        "spaced": protein(90),
        "one": "W",
        "lower": queries["query17"].lower(),
    }
    database |= {"odd": "UUJJOOBZX*" + queries["query16"], "long": protein(250), "named_by_" + 60 * "x": protein(100)}
    write_fasta(folder / "queries.fa", queries)
    write_fasta(folder / "database.fa", database, end="\r\n")
    # Each slot on the device has several chunks in turn. One group is not full.
    run("pack", folder / "database.fa", folder / "database", 4_100)
    search = ["search", folder / "queries.fa", folder / "database", "--hits", len(database)]
    # Alone, no version has what another has left on the device.
    for opening, extension, kernel, versions in (
        (11, 1, "vectors", ("plain", "hand", "causeway")),
        (11, 1, "registers", ("causeway",)),
        (2, 3, "vectors", ("causeway",)),
        (0, 1, "registers", ("all",)),
    ):
        expected = expected_scores(queries, database, opening, extension)
        for version in versions:
            kind = ["--gap-open", opening, "--gap-extend", extension, "--kernel", kernel, "--version", version]
            output = run(*search, *kind).stdout
            chunks = int(re.search(r"in (\d+) chunks", output)[1])
            assert chunks >= 10, output
            found = scores_of(output)
            wrong = {pair: (found.get(pair), score) for pair, score in expected.items() if found.get(pair) != score}
            assert not wrong and len(found) == len(expected), (kind, wrong)
    best = list(scores_of(run(*search[:-1], 2, "--cold", "--progress", "--version", "causeway").stdout))
    assert [name for query, name in best if query == "query120"] == ["twice", "same"] or [
        name for query, name in best if query == "query120"
    ] == ["same", "twice"], best
    print(f"{len(expected)} scores as Biopython's, with 3 kinds of gaps and both kernels")


def check_highest(folder):
    """The highest score there is, of the longest query against itself: 2978 times 11 is near the end of 16 bits."""
    tryptophans = {"highest": 2978 * "W"}
    write_fasta(folder / "highest.fa", tryptophans | {"lower": 2977 * "W"})
    write_fasta(folder / "highest_query.fa", tryptophans)
    run("pack", folder / "highest.fa", folder / "highest", 60_000)
    for kernel in ("vectors", "registers"):
        found = scores_of(run("search", folder / "highest_query.fa", folder / "highest", "--kernel", kernel).stdout)
        assert found == {("highest", "highest"): 32_758, ("highest", "lower"): 32_747}, (kernel, found)


def check_generated(folder):
    for name in ("one", "other"):
        run("generate", folder / name, 100_000, 5)
    text = (folder / "one").read_text()
    assert text == (folder / "other").read_text()
    assert sum(len(line) for line in text.splitlines() if not line.startswith(">")) == 100_000
    run("pack", folder / "one", folder / "generated")
    # Through a pipe, the text never lies on a disk.
    os.mkfifo(folder / "pipe")
    with subprocess.Popen([PROGRAM, "generate", folder / "pipe", "100000", "5"]):
        run("pack", folder / "pipe", folder / "piped")
    assert (folder / "piped").read_bytes() == (folder / "generated").read_bytes()
    transfers = run("search", folder / "queries.fa", folder / "generated", "--transfers-only").stdout
    assert "100000 residues" in transfers and "causeway" in transfers


def check_refusals(folder):
    def refused(message, *arguments, status=1):
        output = run(*arguments, status=status).stderr
        assert message in output, output

    (folder / "bad.fa").write_text(">bad\nMK1\n")
    (folder / "text").write_text("no sequences")
    write_fasta(folder / "huge.fa", {"huge": protein(3000)})
    write_fasta(folder / "empty.fa", {"empty": ""})
    database = folder / "database"
    refused("bad.fa, line 2: '1' is no amino acid", "pack", folder / "bad.fa", folder / "x")
    refused("text, line 1", "pack", folder / "text", folder / "x")
    refused("cannot open", "pack", folder / "missing", folder / "x")
    refused("chunks must be larger", "pack", folder / "huge.fa", folder / "x", 4096)
    refused("huge has 3000 residues", "search", folder / "huge.fa", database, status=2)
    refused("empty has 0 residues", "search", folder / "empty.fa", database, status=2)
    refused("cannot open", "search", folder / "queries.fa", folder / "nothing")
    (folder / "foreign.index").write_bytes(bytes(100))
    refused("smith_waterman pack", "search", folder / "queries.fa", folder / "foreign")
    refused("no version", "search", folder / "queries.fa", database, "--version", "fast", status=2)
    refused("usage", status=2)
    for gap in ("--gap-open", "--gap-extend"):
        refused("gaps", "search", folder / "queries.fa", database, gap, 2**31 - 1, status=2)
    check_repacked(folder, refused)
    database.write_bytes(database.read_bytes()[:-1])
    for version, why in (("plain", "reading"), ("hand", "reading"), ("causeway", "database: the file ended")):
        refused(why, "search", folder / "queries.fa", database, "--version", version)


def check_repacked(folder, refused):
    """A database that was not made to its end is none, whatever was there, and its sequences stay."""
    run("pack", folder / "queries.fa", folder / "repacked")
    (folder / "torn.fa").write_text((folder / "queries.fa").read_text() + "1\n")
    refused("is no amino acid", "pack", folder / "torn.fa", folder / "repacked")
    refused("cannot open", "search", folder / "queries.fa", folder / "repacked")
    before = (folder / "queries.fa").read_bytes()
    os.link(folder / "queries.fa", folder / "linked.names")
    for target in ("queries.fa", "linked"):
        refused("the place of the sequences", "pack", folder / "queries.fa", folder / target)
    assert (folder / "queries.fa").read_bytes() == before


with tempfile.TemporaryDirectory() as name:
    check_scores(Path(name))
    check_highest(Path(name))
    check_generated(Path(name))
    check_refusals(Path(name))
