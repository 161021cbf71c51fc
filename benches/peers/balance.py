"""HiGHS and CP-SAT on the instances of the balance bench: the program (4) to (8) over all
overloaded and idle nodes, on one thread, with a limit of 20 seconds each.

    python3 -m venv peers && peers/bin/pip install highspy ortools numpy
    cargo bench -p benches --bench balance -- --write instances
    peers/bin/python benches/peers/balance.py instances [limit [pattern]]

Prints Markdown, a row an instance: our bytes and CPU time; for each solver its status, its bytes
over ours, the seconds it took in all, and the seconds until it had a solution as good as ours
("–" if it never had). "infeasible" is a proof. Every answer is checked in plain Python. At the end, what the gates ask.
"""

import csv
import sys
import time
from pathlib import Path

import highspy
import numpy
from ortools.sat.python import cp_model


class Program:
    """Entries that may move, as columns: one for each entry and idle node."""

    def __init__(self, path):
        data = numpy.fromfile(path, dtype="<f8")
        nodes, count, self.phi, self.tau = int(data[0]), int(data[1]), data[2], data[3]
        p = data[4 : 4 + nodes]
        owner, load, size = data[4 + nodes :].reshape(count, 3).T
        owner = owner.astype(int)
        s = numpy.bincount(owner, weights=load, minlength=nodes)
        self.low, self.high = (1 - self.tau) * p - s, (1 + self.phi) * p - s
        self.over = [j for j in range(nodes) if self.high[j] < -1e-9]
        self.idle = [k for k in range(nodes) if self.low[k] > 1e-9]
        self.items = [i for i in range(count) if owner[i] in set(self.over)]
        self.owner, self.load, self.size = owner, load, size

    def check(self, chosen):
        """Bytes of (entry, node) pairs, or a complaint."""
        out = {j: 0.0 for j in self.over}
        into = {k: 0.0 for k in self.idle}
        assert len({i for i, _ in chosen}) == len(chosen), "an entry moves twice"
        for i, k in chosen:
            out[self.owner[i]] += self.load[i]
            into[k] += self.load[i]
        eps = 1e-5
        for j in self.over:
            assert -self.high[j] - eps <= out[j] <= -self.low[j] + eps, "a source is out of its band"
        for k in self.idle:
            assert self.low[k] - eps <= into[k] <= self.high[k] + eps, "a target is out of its band"
        return sum(self.size[i] for i, _ in chosen)


def highs(program, limit, goal):
    h = highspy.Highs()
    h.silent()
    h.setOptionValue("threads", 1)
    h.setOptionValue("time_limit", float(limit))
    h.setOptionValue("mip_rel_gap", 0.0)
    h.setOptionValue("mip_abs_gap", 0.5)
    kinds = highspy.HighsVarType.kInteger
    columns = [(i, k) for i in program.items for k in program.idle]
    for i, _ in columns:
        h.addVar(0.0, 1.0)
    h.changeColsCost(len(columns), numpy.arange(len(columns)), numpy.array([program.size[i] for i, _ in columns]))
    h.changeColsIntegrality(len(columns), numpy.arange(len(columns)), numpy.array([kinds] * len(columns)))
    at = {column: n for n, column in enumerate(columns)}
    for i in program.items:
        index = [at[i, k] for k in program.idle]
        h.addRow(-highspy.kHighsInf, 1.0, len(index), numpy.array(index), numpy.ones(len(index)))
    for j in program.over:
        pairs = [(at[i, k], program.load[i]) for i in program.items if program.owner[i] == j for k in program.idle]
        h.addRow(-program.high[j], -program.low[j], len(pairs), numpy.array([a for a, _ in pairs]), numpy.array([b for _, b in pairs]))
    for k in program.idle:
        pairs = [(at[i, k], program.load[i]) for i in program.items]
        h.addRow(program.low[k], program.high[k], len(pairs), numpy.array([a for a, _ in pairs]), numpy.array([b for _, b in pairs]))
    reached = []
    start = time.process_time()

    def improved(event):
        if not reached and event.data_out.objective_function_value <= goal + 0.5:
            reached.append(time.process_time() - start)

    h.cbMipImprovingSolution += improved
    h.run()
    spent = time.process_time() - start
    status = h.getModelStatus()
    names = {
        highspy.HighsModelStatus.kOptimal: "optimal",
        highspy.HighsModelStatus.kInfeasible: "infeasible",
        highspy.HighsModelStatus.kTimeLimit: "limit",
    }
    chosen = None
    if h.getInfo().primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        values = h.getSolution().col_value
        chosen = [column for column, value in zip(columns, values) if value > 0.5]
    return names.get(status, str(status)), chosen, spent, reached[0] if reached else None


class Watch(cp_model.CpSolverSolutionCallback):
    def __init__(self, goal):
        super().__init__()
        self.goal, self.reached, self.start = goal, None, time.process_time()

    def on_solution_callback(self):
        if self.reached is None and self.objective_value <= self.goal + 0.5:
            self.reached = time.process_time() - self.start


def cp_sat(program, limit, goal):
    # Loads are scaled to whole numbers, rounded so that a solution here is one of the program.
    scale = 1e9
    model = cp_model.CpModel()
    x = {(i, k): model.new_bool_var("") for i in program.items for k in program.idle}
    load = {i: round(program.load[i] * scale) for i in program.items}
    for i in program.items:
        model.add_at_most_one(x[i, k] for k in program.idle)
    for j in program.over:
        out = sum(load[i] * x[i, k] for i in program.items if program.owner[i] == j for k in program.idle)
        model.add_linear_constraint(out, round(-program.high[j] * scale), round(-program.low[j] * scale))
    for k in program.idle:
        into = sum(load[i] * x[i, k] for i in program.items)
        model.add_linear_constraint(into, round(program.low[k] * scale), round(program.high[k] * scale))
    model.minimize(sum(int(program.size[i]) * x[i, k] for i, k in x))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = float(limit)
    watch = Watch(goal)
    status = solver.solve(model, watch)
    spent = time.process_time() - watch.start
    names = {cp_model.OPTIMAL: "optimal", cp_model.INFEASIBLE: "infeasible"}
    chosen = None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        chosen = [column for column in x if solver.value(x[column])]
    return names.get(status, "limit"), chosen, spent, watch.reached


def main():
    folder = Path(sys.argv[1])
    limit = float(sys.argv[2]) if len(sys.argv) > 2 else 20.0
    pattern = sys.argv[3] if len(sys.argv) > 3 else ""
    print("| instance | ours: bytes | ms | HiGHS | bytes | s | s to ours | CP-SAT | bytes | s | s to ours |")
    print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    worst, missed, ratios, closed, count = 0.0, [], [], 0, 0
    for row in csv.DictReader(open(folder / "ours.csv")):
        if pattern not in row["name"]:
            continue
        count += 1
        program = Program(folder / (row["name"] + ".load"))
        solved, ours, ms = row["solved"] == "1", int(row["bytes"]), float(row["ms"])
        goal = ours if solved else float("inf")
        cells = [row["name"], str(ours) if solved else "–", f"{ms:.3f}"]
        for solve in (highs, cp_sat):
            status, chosen, spent, reached = solve(program, limit, goal)
            bytes_ = program.check(chosen) if chosen is not None else None
            over = f"{bytes_ / ours:.4f}" if bytes_ is not None and solved else "–" if bytes_ is None else "found"
            cells += [status, over, f"{spent:.3f}", f"{reached:.4f}" if reached is not None else "–"]
            if bytes_ is not None and not solved:
                missed.append((row["name"], solve.__name__))
            if status == "optimal" and solved:
                worst = max(worst, ours / bytes_)
                closed += 1
            if solved and status != "infeasible":
                # Never as good as ours within its time: at least that long.
                ratios.append(((spent if reached is None else reached) * 1e3 / ms, row["name"], solve.__name__))
        print("| " + " | ".join(cells) + " |", flush=True)
    ratios.sort()
    print(f"\n{count} instances, {closed} closed by a solver with a plan of ours: ours at most {worst:.4f} times the optimum.")
    print(f"Found by a solver and not by us: {missed or 'none'}.")
    if ratios:
        middle = ratios[len(ratios) // 2]
        print(f"A solver's time to a plan as good, over ours: least {ratios[0]}, median {middle}.")
        print(f"Below 100: {sum(r[0] < 100 for r in ratios)} of {len(ratios)}.")


main()
