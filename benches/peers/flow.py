#!/usr/bin/env python3
"""Times OR-tools and igraph on DIMACS files of maximum flow problems, beside flownet.

    python3 -m venv peers && peers/bin/pip install ortools igraph
    cargo run --release -p benches --example flow_files -- FOLDER
    cargo build --release -p benches --example flow_times
    peers/bin/python benches/peers/flow.py FOLDER target/release/examples/flow_times

In the clock, for each alike: from arrays of tails, heads and capacities in memory to the flow of
every arc and one side of a minimum cut, in CPU time of the process; the median of RUNS, each side's
in one process.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

import igraph
import numpy
from ortools.graph.python import max_flow

RUNS = 5
# A peer that takes longer than this is timed once.
SLOW = 2000


def read(path):
    """Nodes, source, sink, and arrays of tails, heads and capacities."""
    nodes, ends, arcs = 0, {}, []
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["p"]:
                nodes = int(words[2])
            elif words[:1] == ["n"]:
                ends[words[2]] = int(words[1]) - 1
            elif words[:1] == ["a"]:
                arcs.append((int(words[1]) - 1, int(words[2]) - 1, int(words[3])))
    tails, heads, capacities = (numpy.array(column) for column in zip(*arcs))
    return nodes, ends["s"], ends["t"], tails, heads, capacities


def by_ortools(nodes, source, sink, tails, heads, capacities):
    solver = max_flow.SimpleMaxFlow()
    arcs = solver.add_arcs_with_capacity(tails, heads, capacities)
    if solver.solve(source, sink) != solver.OPTIMAL:
        sys.exit("OR-tools found no optimum")
    solver.flows(arcs)
    solver.get_source_side_min_cut()
    return solver.optimal_flow()


def by_igraph(nodes, source, sink, edges, capacities):
    graph = igraph.Graph(n=nodes, edges=edges, directed=True)
    flow = graph.maxflow(source, sink, capacities)
    return int(flow.value)


def timed(call, arguments):
    """Milliseconds of CPU time, and the value."""
    begin = time.process_time()
    value = call(*arguments)
    return (time.process_time() - begin) * 1000, value


def main():
    folder, ours = Path(sys.argv[1]), sys.argv[2]
    print("| network | flownet ms | OR-tools ms | igraph ms | OR-tools / flownet | igraph / flownet |")
    print("|---|---|---|---|---|---|")
    ratios = ([], [])
    for path in sorted(folder.glob("*.max")):
        nodes, source, sink, tails, heads, capacities = read(path)
        # What each wants: the conversion is not in the clock.
        for_ortools = (nodes, source, sink, tails.astype("int32"), heads.astype("int32"), capacities)
        edges = numpy.column_stack((tails, heads)).astype("int32")
        for_igraph = (nodes, source, sink, edges, capacities.tolist())
        times, values = ([], [], []), set()
        milliseconds, value = subprocess.check_output([ours, path, str(RUNS)], text=True).split()
        times[0].append(float(milliseconds))
        values.add(int(value))
        for _ in range(RUNS):
            for index, call, arguments in ((1, by_ortools, for_ortools), (2, by_igraph, for_igraph)):
                if times[index] and times[index][0] > SLOW:
                    continue
                milliseconds, value = timed(call, arguments)
                times[index].append(milliseconds)
                values.add(value)
        if len(values) != 1:
            sys.exit(f"{path}: different values {values}")
        own, ortools, other = map(statistics.median, times)
        ratios[0].append(ortools / own)
        ratios[1].append(other / own)
        print(f"| {path.stem} | {own:.2f} | {ortools:.2f} | {other:.2f} "
              f"| {ortools / own:.2f} | {other / own:.2f} |", flush=True)
    means = [statistics.geometric_mean(ratio) for ratio in ratios]
    print(f"| geometric mean | | | | {means[0]:.2f} | {means[1]:.2f} |")


if __name__ == "__main__":
    main()
