"""Sliding sums of each key in bytewax, one worker: records a second of wall time after a warm-up.

Run by windows.py: size and slide in milliseconds, keys, records a second, warm-up, measured.
"""

import sys
import time
from datetime import datetime, timedelta, timezone

import bytewax.operators as op
import bytewax.operators.windowing as windowing
from bytewax.connectors.stdio import StdOutSink
from bytewax.dataflow import Dataflow
from bytewax.testing import TestingSource, run_main

size, slide, keys, rate, warm, measured = map(int, sys.argv[1:])
EPOCH = datetime(2020, 1, 1, tzinfo=timezone.utc)
MASK = (1 << 64) - 1
marks = []


def records():
    random = 42
    for i in range(warm + measured):
        random ^= random << 13 & MASK
        random ^= random >> 7
        random ^= random << 17 & MASK
        drawn = random * 0x2545F4914F6CDD1D & MASK
        if i == warm:
            marks.append(time.perf_counter())
        at = EPOCH + timedelta(milliseconds=i * 1000 // rate)
        yield str((drawn >> 32) * keys >> 32), (at, drawn & 1023)
    marks.append(time.perf_counter())


results = 0


def count(item):
    global results
    results += 1
    return False


flow = Dataflow("windows")
stream = op.input("in", flow, TestingSource(records(), batch_size=256))
clock = windowing.EventClock(lambda record: record[0], timedelta(0))
windower = windowing.SlidingWindower(timedelta(milliseconds=size), timedelta(milliseconds=slide), EPOCH)
sums = windowing.fold_window(
    "sum", stream, clock, windower, lambda: 0, lambda total, record: total + record[1], lambda a, b: a + b
)
op.output("out", op.filter("count", sums.down, count), StdOutSink())
run_main(flow)
print(measured / (marks[1] - marks[0]), results)
