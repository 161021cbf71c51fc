//! Instances and our plans as files, for the solvers that are called from Python.

use std::fs::{File, create_dir_all};
use std::io::{BufWriter, Write};
use std::path::Path;

use rtmr::balance::Options;
use rtmr::instances::{Instance, shaped};

use crate::{Outcome, SHAPES, SIGMAS, planned};

/// Number of nodes and of entries, φ and τ; capacities; owner, load and bytes of each entry: all
/// as little-endian 64-bit floats.
fn write_one(instance: &Instance, path: &Path) -> Outcome {
    let head = [
        instance.capacity.len() as f64,
        instance.entries.len() as f64,
        instance.band.phi(),
        instance.band.tau(),
    ];
    let entries = instance.entries.iter();
    let entries = entries.flat_map(|e| [f64::from(e.owner), e.load, e.bytes as f64]);
    let mut file = BufWriter::new(File::create(path)?);
    for number in head.into_iter().chain(instance.capacity.iter().copied()).chain(entries) {
        file.write_all(&number.to_le_bytes())?;
    }
    Ok(file.flush()?)
}

pub(crate) fn write(folder: &Path) -> Outcome {
    create_dir_all(folder)?;
    let mut ours = BufWriter::new(File::create(folder.join("ours.csv"))?);
    writeln!(ours, "name,bytes,ms,bound,solved,optimal")?;
    for (name, shape, unit) in SHAPES {
        for (power, nodes, seeds) in
            [(5, unit, 3), (6, unit, 3), (6, 16, 1), (8, unit, 1), (12, unit, 1)]
        {
            for sigma in SIGMAS {
                for seed in 0..seeds {
                    let instance = shaped(shape, nodes, 1 << power, sigma, seed)?;
                    let (plan, ms) = planned(&instance, &Options::default(), 11)?;
                    let name = format!("{name}-{nodes}-{power}-{sigma}-{seed}");
                    write_one(&instance, &folder.join(name.clone() + ".load"))?;
                    let (bytes, bound) = (plan.bytes, plan.lower_bound);
                    let solved = u8::from(plan.left_over.is_empty());
                    let optimal = u8::from(plan.optimal);
                    writeln!(ours, "{name},{bytes},{ms:.6},{bound:.3},{solved},{optimal}")?;
                }
            }
        }
    }
    Ok(ours.flush()?)
}
