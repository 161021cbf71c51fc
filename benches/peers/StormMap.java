// The map of Storm's acker, in its shape and with its work, written anew: three hash maps in a
// row by age, boxed ids, an object a root; a look-up asks the maps from the newest on. The
// messages are those of the bench `tracker`: one init and four acks a root, in random order among
// the pending roots. Prints pending, nanoseconds of CPU time a message (the median of the turns),
// and bytes of heap a root.
//
//     java -Xmx6g StormMap.java 100000

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.Random;

public class StormMap {
    static final int ACKS = 4;
    static final int TURN = 200_000;
    static final int TURNS = 21;

    static final class Ack {
        long val;
        long startTime = 1;
        int spoutTask = -1;
        boolean failed;
    }

    /** Buckets by age; the newest is the first. */
    static final class Rotating {
        final LinkedList<HashMap<Long, Ack>> buckets = new LinkedList<>();

        Rotating(int count) {
            for (int i = 0; i < count; i++) buckets.add(new HashMap<>());
        }

        Ack get(Long key) {
            for (HashMap<Long, Ack> bucket : buckets) {
                Ack found = bucket.get(key);
                if (found != null) return found;
            }
            return null;
        }

        void put(Long key, Ack value) {
            boolean first = true;
            for (HashMap<Long, Ack> bucket : buckets) {
                if (first) bucket.put(key, value);
                else bucket.remove(key);
                first = false;
            }
        }

        void remove(Long key) {
            for (HashMap<Long, Ack> bucket : buckets) {
                if (bucket.remove(key) != null) return;
            }
        }

        void rotate() {
            buckets.removeLast();
            buckets.addFirst(new HashMap<>());
        }
    }

    static long done;

    static void message(Rotating pending, Long root, long sum, boolean init) {
        Ack ack = pending.get(root);
        if (ack == null) {
            ack = new Ack();
            ack.val = sum;
            pending.put(root, ack);
        } else {
            ack.val ^= sum;
        }
        if (init) ack.spoutTask = 1;
        if (ack.spoutTask >= 0 && ack.val == 0) {
            pending.remove(root);
            done += ack.spoutTask;
        }
    }

    static long edge(long root, int k) {
        return Long.rotateLeft(root, 7 + 13 * k);
    }

    public static void main(String[] args) {
        int count = Integer.parseInt(args[0]);
        Random random = new Random(42);
        long[] live = new long[count];
        byte[] acked = new byte[count];
        Rotating pending = new Rotating(3);
        long before = used();
        for (int i = 0; i < count; i++) {
            live[i] = random.nextLong() | 1;
            message(pending, live[i], edge(live[i], 0), true);
        }
        double bytes = (double) (used() - before) / count;
        var threads = ManagementFactory.getThreadMXBean();
        int warm = 10 * count / TURN + 10;
        double[] nanos = new double[TURNS];
        long[] roots = new long[TURN + 1];
        long[] sums = new long[TURN + 1];
        boolean[] inits = new boolean[TURN + 1];
        for (int turn = 0; turn < warm + TURNS; turn++) {
            int n = 0;
            while (n < TURN) {
                int at = random.nextInt(count);
                long root = live[at];
                int k = acked[at]++;
                roots[n] = root;
                sums[n] = edge(root, k) ^ (k + 1 < ACKS ? edge(root, k + 1) : 0);
                inits[n++] = false;
                if (acked[at] == ACKS) {
                    long next = random.nextLong() | 1;
                    live[at] = next;
                    acked[at] = 0;
                    roots[n] = next;
                    sums[n] = edge(next, 0);
                    inits[n++] = true;
                }
            }
            long start = threads.getCurrentThreadCpuTime();
            for (int i = 0; i < n; i++) message(pending, roots[i], sums[i], inits[i]);
            long spent = threads.getCurrentThreadCpuTime() - start;
            if (turn >= warm) nanos[turn - warm] = (double) spent / n;
        }
        Arrays.sort(nanos);
        if (done == 0) throw new IllegalStateException("nothing was done");
        System.out.printf("%d %.1f %.1f%n", count, nanos[TURNS / 2], bytes);
    }

    static long used() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
