use std::time::Instant;
fn main() {
    for i in tsaw::instances::small().unwrap() {
        let c = i.cluster(0.10).unwrap();
        let mut cuts = vec![]; let t = Instant::now();
        for seed in 0..10 { 
            match tsaw::schedule(&i.graph, &c, &tsaw::Options::default().with_seed(seed)) {
                Ok(p) => { cuts.push(p.certificate.cut_after); if seed==0 { print!("lb {} imb {:.3} steps {} ", p.certificate.cut_lower_bound, p.certificate.load.imbalance, p.steps) } }
                Err(e) => println!("{e}"),
            }
        }
        println!("{} total {} {:?} {:.2} ms", i.name, i.graph.total_rate(), cuts, t.elapsed().as_secs_f64()*100.);
    }
}
