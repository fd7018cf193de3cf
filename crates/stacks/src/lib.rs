//! Stacks without I/O from shared libraries, as endpoints of the simulator.
//!
//! # Model
//! A library that exports the functions of `include/thalweg_stack.h` is a stack: its own packets, its own loss recovery,
//! its own congestion control. [`LibraryEndpoint`] has the calls of `thalweg_transport::Endpoint` and of
//! `thalweg_quic::QuicEndpoint`. Time and random numbers go in with the calls.
//!
//! # Faults
//! What a library does against its interface ends the trial: the endpoint unwinds it with a [`Fault`], which names the
//! call, the end and the simulated time. A library may as well crash, or never return. Then nobody here can say
//! anything, so the call that is going on stands in memory that another process may share ([`present`]).
//!
//! # Limits
//! Streams only: no datagrams of applications, no priorities, no 0-RTT. A library is never unloaded.

mod description;
mod endpoint;
mod fault;
mod library;
mod probes;
mod streams;

pub use description::{Description, Inspected, Inspector, inspect_here, inspect_with};
pub use endpoint::{LibraryEndpoint, Sent};
pub use fault::{Fault, result_of};
pub use library::present;
