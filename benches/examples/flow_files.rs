//! Writes the flow networks of the benches as DIMACS files into a folder, for peers in other
//! languages.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: flow_files FOLDER")?);
    std::fs::create_dir_all(&folder)?;
    for net in benches::networks::all() {
        let mut file = BufWriter::new(File::create(folder.join(net.name).with_extension("max"))?);
        writeln!(file, "p max {} {}", net.nodes, net.arcs.len())?;
        writeln!(file, "n {} s\nn {} t", net.source + 1, net.sink + 1)?;
        for (from, to, capacity) in net.arcs {
            writeln!(file, "a {} {} {capacity}", from + 1, to + 1)?;
        }
        file.flush()?;
    }
    Ok(())
}
