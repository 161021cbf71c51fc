use std::time::Instant;
fn main() {
    for i in tsaw::instances::small().unwrap() {
        let c = i.cluster(0.10).unwrap();
        let mut cuts = vec![]; let t = Instant::now();
        for seed in 0..10 { 
            match tsaw::schedule(&i.graph, &c, &tsaw::Options::default().with_seed(seed)) {
                Ok(p) => { cuts.push(p.certificate.cut_after); tsaw::verify(&i.graph,&c,&p.placement,&p.certificate).unwrap(); if seed==0 { print!("lb {} imb {:.3} steps {} ", p.certificate.cut_lower_bound, p.certificate.load.imbalance, p.steps) } }
                Err(e) => println!("{e}"),
            }
        }
        println!("{} total {} {:?} {:.2} ms", i.name, i.graph.total_rate(), cuts, t.elapsed().as_secs_f64()*100.);
        let show = |n: &str, p: Result<tsaw::Placement, tsaw::ScheduleError>| match p { Err(e)=>println!("   {n} {e}"), Ok(p)=>{ let cert=tsaw::certify(&i.graph,&c,&p,None).unwrap(); println!("   {n} {:.3} @{:.2}", cert.cut_after as f64/cert.total as f64, cert.load.imbalance)}};
        show("rr", tsaw::baseline::round_robin(&i.graph,&c)); show("lpt", tsaw::baseline::lpt(&i.graph,&c)); show("rstorm", tsaw::baseline::rstorm(&i.graph,&c));
        show("aniello", tsaw::baseline::aniello_online(&i.graph,&c, Default::default()));
        show("aniello1", tsaw::baseline::aniello_online(&i.graph,&c, tsaw::baseline::AnielloParams::default().with_alpha(1.)));
        let best=(0..10).filter_map(|s| tsaw::schedule(&i.graph,&c,&tsaw::Options::paper().with_seed(s)).ok()).min_by_key(|p| p.certificate.cut_after);
        show("paper", best.map(|p| p.placement).ok_or(tsaw::ScheduleError::NoNodes));
    }
    for n in [1_000u32, 10_000, 100_000, 1_000_000] {
        if std::env::var("BIG").is_err() && n > 10_000 { continue }
        let t=Instant::now(); let g=tsaw::instances::layered_dag(n,1).unwrap(); let k= if n<100_000 {16} else {64};
        println!("{n} built {:?} {} {} {}", t.elapsed(), g.pair_count(), g.total_cpu(), g.total_rate());
        let c=tsaw::Cluster::uniform(k, g.total_cpu()).unwrap().with_imbalance(0.03).unwrap();
        for (name,o) in [("paper", tsaw::Options::paper()), ("balanced", tsaw::Options::default())] {
            let t=Instant::now();
            match tsaw::schedule(&g,&c,&o) { Ok(p)=>{ let e=t.elapsed(); let t=Instant::now(); tsaw::verify(&g,&c,&p.placement,&p.certificate).unwrap(); println!("  {name} cut {} imb {:.3} {:?} steps {} verify {:?}", p.certificate.cut_after, p.certificate.load.imbalance, e, p.steps, t.elapsed()) } Err(e)=>println!("  {name} {e}") }
        }
    }
}
