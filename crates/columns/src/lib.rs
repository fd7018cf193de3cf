//! Outcomes and traces as columns, one line of code for each; what scenarios can name, as JSON.
//!
//! Whatever holds columns, arrays of NumPy or typed arrays of JavaScript, gets the same ones under the same names,
//! which `docs/reference/results.md` describes.
//!
//! # Units
//! Names end with them: `_s` seconds, `_bps` bits per second, `_bytes` bytes. NaN if the event never happened, or if
//! there is no value.

pub mod descriptions;
pub mod outcomes;
mod passages;
pub mod qlog;
mod table;
mod trace;

pub use passages::PassageTables;
pub use table::{Column, Table};
pub use trace::TraceTables;
