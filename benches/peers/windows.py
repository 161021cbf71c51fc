#!/usr/bin/env python3
"""Sliding sums of each key: keywindow beside Apache Flink and bytewax, one after the other.

    python3 -m venv peers && peers/bin/pip install bytewax
    peers/bin/pip download --no-deps apache-flink-libraries==1.20.0 && tar xzf apache-flink-libraries-*.tar.gz
    cargo build --release -p benches --example window_rate
    peers/bin/python benches/peers/windows.py JARS target/release/examples/window_rate [120/2 1h/1s]

JARS is the folder deps/lib of what was unpacked. Needs a JDK. The same records for all: evenly in
time, keys drawn evenly. In the clock: wall time of the records after the warm-up, drawing them
included, at parallelism 1; Flink and bytewax pass them between threads or operators of one process.
Flink and bytewax tell every window, keywindow every change.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
# Size and slide in milliseconds, keys, records a second; warm-up and measured records: of keywindow,
# Flink's windows, its SQL and bytewax.
WORKLOADS = {
    "120/2": (120_000, 2_000, 1_000, 1_000, {
        "keywindow": (500_000, 3_000_000),
        "Flink windows": (150_000, 100_000),
        "Flink SQL HOP": (150_000, 300_000),
        "bytewax": (20_000, 20_000),
    }),
    "1h/1s": (3_600_000, 1_000, 100, 10, {
        "keywindow": (100_000, 3_000_000),
        "Flink windows": (500, 1_000),
        # More than its buffers take, or it would seem to be done at once.
        "Flink SQL HOP": (20_000, 6_000),
        "bytewax": (100, 200),
    }),
}


def rate(command):
    output = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = output.stdout.split("\n")
    figures = [line for line in lines if line.strip()]
    if not figures:
        sys.exit(output.stderr)
    return float(figures[-1].split()[0])


def main():
    jars, ours, *chosen = sys.argv[1:]
    classes = tempfile.mkdtemp()
    path = f"{jars}/*"
    java = str(HERE / "FlinkWindows.java")
    subprocess.run(["javac", "-nowarn", "-cp", path, "-d", classes, java], check=True, capture_output=True)
    flink = ["java", "-Xmx6g", "-cp", f"{path}:{classes}", "FlinkWindows"]
    commands = {
        "keywindow": [ours],
        "Flink windows": [*flink, "windows"],
        "Flink SQL HOP": [*flink, "sql"],
        "bytewax": [sys.executable, str(HERE / "bytewax_windows.py")],
    }
    for name, (size, slide, keys, per_second, counts) in WORKLOADS.items():
        if chosen and name not in chosen:
            continue
        print(f"\n{name}, {keys} keys, {per_second} records/s     records/s  keywindow is")
        first = None
        for peer, command in commands.items():
            arguments = [size, slide, keys, per_second, *counts[peer]]
            each = rate([*command, *map(str, arguments)])
            first = first or each
            print(f"{peer:<34} {each:>12,.0f} {first / each:>12,.1f} x", flush=True)


main()
