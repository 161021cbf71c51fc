"""METIS, KaHIP and Mt-KaHyPar on the METIS files of the multilevel bench.

    python3 -m venv peers
    peers/bin/pip install pymetis==2025.2.2 kahip==3.25 mtkahypar==1.7.post1 numpy
    cargo bench -p benches --bench multilevel -- --write graphs
    peers/bin/python -W ignore benches/peers/multilevel.py graphs

Prints Markdown as the bench does: the geometric mean and the least of the cut over five seeds (one
seed from half a million tasks on), the largest load over the mean of all seeds, and the median of
the CPU milliseconds, at an imbalance of 3 % and one thread. A name after the folder leaves out the
peers that don't contain it, a second one the graphs that don't begin with it.
"""

import math
import resource
import statistics
import sys
from pathlib import Path

import numpy

IMBALANCE = 0.03


def read(path):
    with open(path) as file:
        tasks, _, form = file.readline().split()[:3]
        assert form == "011", "written with CPU and rates alone"
        offsets, targets, cpu, rates = [0], [], [], []
        for line in file:
            words = [int(word) for word in line.split()]
            cpu.append(words[0])
            targets += words[1::2]
            rates += words[2::2]
            offsets.append(len(targets))
    assert len(cpu) == int(tasks)
    arrays = [numpy.array(x, dtype="i8") for x in (offsets, targets, cpu, rates)]
    arrays[1] -= 1
    return arrays


def cpu_seconds(work):
    before = resource.getrusage(resource.RUSAGE_SELF)
    result = work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return result, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def metis(nodes, offsets, targets, cpu, rates):
    import pymetis
    xadj, adjncy, vwgt, adjwgt = (x.astype("i4") for x in (offsets, targets, cpu, rates))

    def run(recursive, seed):
        options = pymetis.Options(ufactor=round(IMBALANCE * 1000), seed=seed)
        return pymetis.part_graph(
            nodes, xadj=xadj, adjncy=adjncy, vweights=vwgt, eweights=adjwgt,
            recursive=recursive, options=options)[1]

    yield "METIS k-way", lambda seed: run(False, seed)
    yield "METIS recursive", lambda seed: run(True, seed)


def kaffpa(nodes, offsets, targets, cpu, rates):
    import kahip
    xadj, adjncy, vwgt, adjwgt = (x.tolist() for x in (offsets, targets, cpu, rates))

    def run(mode, seed):
        return kahip.kaffpa(vwgt, xadj, adjwgt, adjncy, nodes, IMBALANCE, True, seed, mode)[1]

    for name, mode in (("fast", 0), ("eco", 1)):
        if len(cpu) <= 20_000 or mode == 0:
            yield f"KaFFPa {name}", lambda seed, mode=mode: run(mode, seed)


def kahypar(nodes, offsets, targets, cpu, rates):
    import mtkahypar
    lib = mtkahypar.initialize(1)
    tasks = numpy.repeat(numpy.arange(len(cpu)), numpy.diff(offsets))
    once = tasks < targets
    edges = list(zip(tasks[once].tolist(), targets[once].tolist()))
    context = lib.context_from_preset(mtkahypar.PresetType.DEFAULT)
    context.set_partitioning_parameters(nodes, IMBALANCE, mtkahypar.Objective.CUT)
    context.logging = False
    graph = lib.create_graph(
        context, len(cpu), len(edges), edges, cpu.tolist(), rates[once].tolist())

    def run(seed):
        mtkahypar.set_seed(seed)
        return graph.partition(context).get_partition()

    yield "Mt-KaHyPar default", run


def measure(graph, nodes, part):
    offsets, targets, cpu, rates = graph
    part = numpy.asarray(part)
    of = numpy.repeat(part, numpy.diff(offsets))
    cut = int(rates[of != part[targets]].sum()) // 2
    loads = numpy.bincount(part, weights=cpu, minlength=nodes)
    return cut, loads.max() * nodes / cpu.sum()


def main(folder, only="", graphs=""):
    print("| graph and parts | peer | cut, mean | least | largest / mean | CPU ms |")
    print("|---|---|---|---|---|---|")
    for path in sorted(Path(folder).glob(f"{graphs}*.metis"), key=lambda p: p.stat().st_size):
        graph = read(path)
        nodes = int(path.stem.rsplit(".k", 1)[1])
        seeds = 1 if len(graph[2]) > 500_000 else 5
        for family in (metis, kaffpa, kahypar):
            if len(graph[2]) > 500_000 and family is not metis:
                continue
            try:
                peers = list(family(nodes, *graph))
            except ImportError as error:
                print(f"{family.__name__}: {error}", file=sys.stderr)
                continue
            for name, run in peers:
                if only not in name:
                    continue
                cuts, largest, times = [], 0.0, []
                for seed in range(seeds):
                    part, seconds = cpu_seconds(lambda: run(seed))
                    cut, most = measure(graph, nodes, part)
                    cuts.append(cut)
                    largest = max(largest, most)
                    times.append(seconds)
                mean = math.exp(sum(math.log(max(cut, 1)) for cut in cuts) / len(cuts))
                print(f"| {path.stem} | {name} | {mean:.0f} | {min(cuts)} | {largest:.4f} | "
                      f"{statistics.median(times) * 1e3:.1f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
