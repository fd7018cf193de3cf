//! Transport stacks without I/O for Thalweg: the C interface, and a trait for stacks in Rust.
//!
//! A stack in Rust implements [`Stack`], and [`export_stack!`](crate::export_stack) gives its crate (of type `cdylib`)
//! the functions of `include/thalweg_stack.h`:
//!
//! ```
//! use thalweg_stack_sdk::{Arrival, Departure, Options, Problem, Room, Stack, Status, Written, export_stack};
//!
//! /// An end that never connects.
//! struct Silent;
//!
//! impl Stack for Silent {
//!     const NAME: &'static str = "silent";
//!     const VERSION: &'static str = "1";
//!     const CONTROLLERS: &'static str = "none";
//!
//!     fn create(_: &Options<'_>, _now: u64) -> Result<Self, Problem> {
//!         Ok(Silent)
//!     }
//!     fn datagram_in(&mut self, _now: u64, _ecn: u8, _data: &[u8]) {}
//!     fn datagram_out(&mut self, _now: u64, _room: Room<'_>) -> Option<Departure> {
//!         None
//!     }
//!     fn next(&mut self) -> Option<u64> {
//!         None
//!     }
//!     fn expire(&mut self, _now: u64) {}
//!     fn open(&mut self, _now: u64) -> Option<u64> {
//!         None
//!     }
//!     fn write(&mut self, _now: u64, _stream: u64, _bytes: u64, _fin: bool) -> Written {
//!         Written::Blocked
//!     }
//!     fn read(&mut self, _now: u64) -> Option<Arrival> {
//!         None
//!     }
//!     fn close(&mut self, _now: u64) {}
//!     fn status(&self) -> Status {
//!         Status::Connecting
//!     }
//! }
//!
//! export_stack!(Silent);
//! # fn main() {}
//! ```
//!
//! A panic of a stack does not leave the library: it ends the trial with its message.

pub mod abi;
#[allow(unsafe_code, reason = "callers in C hand over pointers")]
#[doc(hidden)]
pub mod boundary;
mod stack;

pub use stack::{Arrival, Departure, Options, Probes, Problem, Role, Room, Stack, Status, Written};
