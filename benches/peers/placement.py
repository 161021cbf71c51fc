"""METIS and KaHIP on the instances of the placement bench.

    python3 -m venv peers && peers/bin/pip install pymetis==2025.2.2 kahip==3.25 numpy
    cargo bench -p benches --bench placement -- --write instances
    peers/bin/python benches/peers/placement.py instances

Prints Markdown: cut, largest over mean load, and CPU seconds, over five seeds (one where the
instance has 100 000 tasks or more): the least cut that keeps the cap, or else the least cut, and
the median time.
"""

import resource
import statistics
import sys
from pathlib import Path

import kahip
import numpy
import pymetis


def read(path):
    data = numpy.fromfile(path, dtype="<i8")
    tasks, arcs, nodes, ppm = (int(x) for x in data[:4])
    ends = numpy.cumsum([4, tasks + 1, arcs, tasks, arcs])
    offsets, targets, cpu, rates = (data[a:b] for a, b in zip(ends, ends[1:]))
    return nodes, ppm / 1e6, offsets, targets, cpu, rates


def cpu_seconds(work):
    before = resource.getrusage(resource.RUSAGE_SELF)
    result = work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return result, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(graph, part):
    nodes, _, offsets, targets, cpu, rates = graph
    part = numpy.asarray(part)
    of = numpy.repeat(part, numpy.diff(offsets))
    cut = int(rates[of != part[targets]].sum()) // 2
    loads = numpy.bincount(part, weights=cpu, minlength=nodes)
    return cut, loads.max()


def peers(graph):
    nodes, imbalance, offsets, targets, cpu, rates = graph
    lists = [x.tolist() for x in (offsets, targets, cpu, rates)]
    arrays = [x.astype("i4") for x in (offsets, targets, cpu, rates)]

    def metis(recursive):
        def run(seed):
            xadj, adjncy, vwgt, adjwgt = arrays
            options = pymetis.Options(ufactor=round(imbalance * 1000), seed=seed)
            return lambda: pymetis.part_graph(
                nodes, xadj=xadj, adjncy=adjncy, vweights=vwgt, eweights=adjwgt,
                recursive=recursive, options=options)[1]
        return run

    def kaffpa(mode):
        def run(seed):
            xadj, adjncy, vwgt, adjwgt = lists
            return lambda: kahip.kaffpa(
                vwgt, xadj, adjwgt, adjncy, nodes, imbalance, True, seed, mode)[1]
        return run

    yield "METIS k-way", metis(False)
    yield "METIS recursive", metis(True)
    if len(cpu) < 100_000:
        for name, mode in (("fast", 0), ("eco", 1), ("strong", 2)):
            yield f"KaFFPa {name}", kaffpa(mode)


def main(folder):
    print("| instance | peer | cut | largest / mean | within the cap | CPU ms |")
    print("|---|---|---|---|---|---|")
    for path in sorted(Path(folder).glob("*.graph"), key=lambda p: p.stat().st_size):
        graph = read(path)
        nodes, imbalance, cpu = graph[0], graph[1], graph[4]
        mean = cpu.sum() / nodes
        cap = int(cpu.sum()) * round(1e6 + imbalance * 1e6) // (nodes * 1_000_000)
        seeds = 5 if len(cpu) < 100_000 else 1
        for name, run in peers(graph):
            results, times = [], []
            for seed in range(seeds):
                part, seconds = cpu_seconds(run(seed))
                cut, largest = measure(graph, part)
                results.append((largest > cap, cut, largest))
                times.append(seconds)
            over, cut, largest = min(results)
            print(f"| {path.stem} | {name} | {cut} | {largest / mean:.3f} | "
                  f"{'no' if over else 'yes'} | {statistics.median(times) * 1e3:.1f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
