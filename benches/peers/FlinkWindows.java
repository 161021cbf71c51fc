// Sliding sums of each key in Apache Flink, parallelism 1, state on the heap: DataStream windows, or
// the SQL window function HOP. Records are even in time, with keys drawn evenly; time is told at
// every slide. Prints records a second of wall time after a warm-up, and how many results there were.
//
// windows.py compiles and runs it.

import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.SinkFunction;
import org.apache.flink.streaming.api.functions.source.SourceFunction;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.api.windowing.assigners.SlidingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.time.Time;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;

public class FlinkWindows {
    static long size, slide, keys, rate, warm, measured;
    static volatile long start, end;
    static volatile boolean done;
    static long adds;
    static volatile long results;

    /** The records; in SQL it also tells the time of the first and the last that is measured. */
    public static class Source implements SourceFunction<Row> {
        private final boolean timed;

        Source(boolean timed) {
            this.timed = timed;
        }

        @Override
        public void run(SourceContext<Row> out) {
            long random = 42, next = slide;
            // Those after the measured ones push these through the buffers.
            for (long i = 0; i < warm + measured || (!timed && !done); i++) {
                random ^= random << 13;
                random ^= random >>> 7;
                random ^= random << 17;
                long drawn = random * 0x2545f4914f6cdd1dL;
                long time = i * 1000 / rate;
                if (time >= next) {
                    out.emitWatermark(new Watermark(time - 1));
                    next += slide;
                }
                if (timed && i == warm) {
                    start = System.nanoTime();
                }
                int key = (int) (((drawn >>> 32) * keys) >>> 32);
                out.collectWithTimestamp(Row.of(key, (int) (drawn & 1023)), time);
            }
            if (timed) {
                end = System.nanoTime();
            }
            report();
        }

        @Override
        public void cancel() {}
    }

    public static class Sum implements AggregateFunction<Row, Long, Long> {
        @Override
        public Long createAccumulator() {
            return 0L;
        }

        @Override
        public Long add(Row record, Long sum) {
            // Every record is added to size / slide windows.
            adds++;
            if (adds == warm * (size / slide)) {
                start = System.nanoTime();
            } else if (adds == (warm + measured) * (size / slide)) {
                end = System.nanoTime();
                done = true;
            }
            return sum + (int) record.getField(1);
        }

        @Override
        public Long getResult(Long sum) {
            return sum;
        }

        @Override
        public Long merge(Long a, Long b) {
            return a + b;
        }
    }

    static void report() {
        System.out.println(measured / ((end - start) / 1e9) + " " + results);
        System.out.flush();
        // The windows that are still open would take long to end.
        Runtime.getRuntime().halt(0);
    }

    public static void main(String[] args) throws Exception {
        size = Long.parseLong(args[1]);
        slide = Long.parseLong(args[2]);
        keys = Long.parseLong(args[3]);
        rate = Long.parseLong(args[4]);
        warm = Long.parseLong(args[5]);
        measured = Long.parseLong(args[6]);
        Configuration configuration = new Configuration();
        configuration.setString("state.backend.type", "hashmap");
        // A process that a busy machine holds up for a minute is not dead.
        configuration.setString("heartbeat.timeout", "3600000");
        StreamExecutionEnvironment env =
            StreamExecutionEnvironment.createLocalEnvironment(1, configuration);
        env.getConfig().enableObjectReuse();
        boolean sql = args[0].equals("sql");
        DataStream<Row> records = env.addSource(new Source(sql))
            .returns(Types.ROW_NAMED(new String[] {"k", "v"}, Types.INT, Types.INT));
        if (sql) {
            StreamTableEnvironment tables = StreamTableEnvironment.create(env);
            tables.createTemporaryView("records", records, Schema.newBuilder()
                .column("k", DataTypes.INT())
                .column("v", DataTypes.INT())
                .columnByMetadata("ts", DataTypes.TIMESTAMP_LTZ(3), "rowtime")
                .watermark("ts", "SOURCE_WATERMARK()")
                .build());
            Table sums = tables.sqlQuery(
                "SELECT k, window_end, SUM(v) FROM TABLE(HOP(TABLE records, DESCRIPTOR(ts), "
                    + "INTERVAL '" + slide / 1000 + "' SECOND(6), INTERVAL '" + size / 1000
                    + "' SECOND(6))) GROUP BY k, window_start, window_end");
            tables.toDataStream(sums).addSink(new Count<Row>());
        } else {
            records.keyBy(record -> (Integer) record.getField(0), Types.INT)
                .window(SlidingEventTimeWindows.of(Time.milliseconds(size), Time.milliseconds(slide)))
                .aggregate(new Sum())
                .addSink(new Count<Long>());
        }
        env.execute();
    }

    public static class Count<T> implements SinkFunction<T> {
        @Override
        public void invoke(T value, Context context) {
            results++;
        }
    }
}
