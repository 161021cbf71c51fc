//! Draws the native and the key windows of the paper's figures 3 to 5.
//!
//! `cargo run -p keywindow --example figure > keywindow/figure.svg`

#![allow(dead_code, unreachable_pub)]

use std::error::Error;
use std::fmt::Write;

use keywindow::aggregates::Count;
use keywindow::oracle::native;
use keywindow::{Change, KeyWindow, WindowSpec};

/// The cells with data, and a window's cells.
const DATA: [i64; 4] = [0, 5, 10, 11];
const SIZE: i64 = 4;

const CELL: i64 = 32;
const LINE: i64 = 11;
const LEFT: i64 = 150;

fn x(cell: i64) -> i64 {
    LEFT + (cell + SIZE) * CELL
}

/// A list of windows as bars, one a line, each with the number of data in it.
fn bars(svg: &mut String, top: i64, name: &str, windows: &[(i64, u64)]) -> std::fmt::Result {
    writeln!(svg, r#"<text x="8" y="{}">{name}: {}</text>"#, top + LINE, windows.len())?;
    for (line, &(end, count)) in (0..).zip(windows) {
        let (from, y) = (x(end - SIZE), top + line * LINE);
        let (width, fill) = (SIZE * CELL, ["#e8e8e8", "#9ec5e8", "#3f7fbf"][count.min(2) as usize]);
        writeln!(
            svg,
            r##"<rect x="{from}" y="{y}" width="{width}" height="8" rx="2" fill="{fill}" stroke="#555"/>"##
        )?;
    }
    Ok(())
}

/// The picture.
pub fn svg() -> Result<String, Box<dyn Error>> {
    let spec = WindowSpec::sliding(SIZE, 1)?;
    let records = DATA.map(|cell| (cell, ()));
    let all = native(&spec, &Count::new(), &records, i64::MAX);
    let mut told: Vec<Change<u64>> = Vec::new();
    let mut window = KeyWindow::new(Count::new(), spec);
    for (cell, ()) in records {
        let _ = window.push(cell, &(), |change| told.push(change))?;
    }
    window.advance_to(i64::MAX, |change| told.push(change));
    let key: Vec<_> = told.iter().map(|change| (change.end, change.value.unwrap_or(0))).collect();

    let (native_top, key_top) = (60, 60 + 14 * LINE + 12);
    let (width, height) = (x(17) + 8, key_top + 9 * LINE + 8);
    let mut svg = String::new();
    writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">"#
    )?;
    writeln!(svg, r#"<rect width="{width}" height="{height}" fill="white"/>"#)?;
    writeln!(svg, r#"<text x="8" y="32">cells with data</text>"#)?;
    for cell in -SIZE..17 {
        writeln!(
            svg,
            r##"<rect x="{}" y="14" width="{CELL}" height="28" fill="none" stroke="#999"/>"##,
            x(cell)
        )?;
    }
    for cell in DATA {
        writeln!(svg, r##"<circle cx="{}" cy="28" r="8" fill="#c0392b"/>"##, x(cell) + CELL / 2)?;
    }
    bars(&mut svg, native_top, "native windows", &all)?;
    bars(&mut svg, key_top, "key windows", &key)?;
    svg.push_str("</svg>\n");
    Ok(svg)
}

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", svg()?);
    Ok(())
}
