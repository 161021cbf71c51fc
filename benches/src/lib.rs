//! Timing only: see `benches/`.
