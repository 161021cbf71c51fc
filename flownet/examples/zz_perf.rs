// perf harness
use flownet::*;
use std::time::Instant;
fn cpu() -> f64 {
    use std::sync::OnceLock;
    static T: OnceLock<Instant> = OnceLock::new();
    T.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e3
}
fn main() {
    let m = match std::env::args().nth(1).as_deref() {
        Some("ek") => Method::EdmondsKarp,
        Some("dinic") => Method::Dinic,
        Some("pr") => Method::PushRelabel,
        _ => Method::Auto,
    };
    let reps: usize = std::env::args().nth(2).map_or(7, |x| x.parse().unwrap());
    for f in std::env::args().skip(3) {
        let net =
            dimacs::read_max(std::io::BufReader::new(std::fs::File::open(&f).unwrap())).unwrap();
        let mut t = vec![];
        let mut t2 = vec![];
        let mut a = None;
        for _ in 0..reps {
            let b = cpu();
            let mut n2 = Network::<u64>::with_arc_capacity(net.arc_count());
            n2.add_nodes(net.node_count()).unwrap();
            for x in net.arcs() {
                n2.add_arc(x.from, x.to, x.capacity).unwrap();
            }
            for (s, _) in net.sources() {
                n2.add_source(s, Limit::Unbounded).unwrap();
            }
            for (s, _) in net.sinks() {
                n2.add_sink(s, Limit::Unbounded).unwrap();
            }
            let mut run = Solver::new(&n2).method(m).start().unwrap();
            t2.push(cpu() - b);
            run.step(u64::MAX);
            let x = run.finish().unwrap();
            t.push(cpu() - b);
            a = Some(x);
        }
        t.sort_by(f64::total_cmp);
        t2.sort_by(f64::total_cmp);
        let a = a.unwrap();
        verify(&net, &a).unwrap();
        println!(
            "{:32} {:9.3} ms  build {:8.3}  value {} {:?} {:?}",
            f.rsplit('/').next().unwrap(),
            t[0],
            t2[0],
            a.value,
            a.method,
            a.stats
        );
    }
    let _ = Instant::now();
}
