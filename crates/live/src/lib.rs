//! Real time: the links of the simulator between real hosts.
//!
//! [`serve`] answers one request in its own process: it creates hosts (network namespaces with a TUN
//! device each), forwards their packets over the path of a scenario, and runs a command, a set of hosts, or
//! flows of the kernel's TCP and of the QUIC stack there. However the process ends, the kernel removes all of it.
//!
//! ```text
//! left host [ TUN ] <-> | link up, link down of thalweg-path | <-> [ TUN ] right host
//!                                one thread, epoll
//! ```
//!
//! Every run reports how late it released packets, what the host lost, and whether it was faithful to the
//! scenario.
//!
//! # Limits
//! Linux 5.11 or later; elsewhere the crate builds and refuses (`elsewhere.rs`). One hop. Packets of at most 1500 bytes. On links of 240 Mbps and more, hosts hand over what the
//! link transmits in 0.1 ms at once.
//! Capacity counts IP packets: the `overhead` of a scenario does not apply to packets with real headers.

#[cfg(target_os = "linux")]
mod emulator;
mod explain;
#[cfg(target_os = "linux")]
mod host;
#[cfg(target_os = "linux")]
mod outcome;
#[cfg(target_os = "linux")]
mod ready;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod request;
#[cfg(target_os = "linux")]
mod rig;
#[cfg(target_os = "linux")]
mod scenario;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
mod shell;
#[cfg(target_os = "linux")]
mod stage;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod traffic;
#[cfg(target_os = "linux")]
mod trial;

pub use explain::{Explain, Payload};
#[cfg(target_os = "linux")]
pub use scenario::{flows_from_toml, path_from_toml};
#[cfg(target_os = "linux")]
pub use serve::serve;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{flows_from_toml, path_from_toml, serve};
