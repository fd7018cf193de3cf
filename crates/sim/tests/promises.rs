//! What holds for every scenario and every trial. One binary, as `trials.rs`.

// Some of the files are a binary's own elsewhere, and bring what drives their trials.
#![allow(clippy::duplicate_mod)]

mod lists;

#[path = "audit.rs"]
mod audit;
#[path = "determinism/main.rs"]
mod determinism;
#[path = "fidelity.rs"]
mod fidelity;
#[path = "floor.rs"]
mod floor;
#[path = "limits.rs"]
mod limits;
#[path = "scenario_errors/main.rs"]
mod scenario_errors;
#[path = "trace_hashes.rs"]
mod trace_hashes;
#[path = "traces/main.rs"]
mod traces;
