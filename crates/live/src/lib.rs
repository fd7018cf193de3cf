//! Real time: the links of the simulator between real hosts.
//!
//! [`serve`] answers one request in a process of its own: it makes hosts (network namespaces with a TUN
//! device each), carries their packets over the path of a scenario, and runs a command, a set of hosts, or
//! flows of the kernel's TCP and of the QUIC stack there. When the process ends, however it ends, the kernel removes all of it.
//!
//! ```text
//! left host [ TUN ] <-> | link up, link down of thalweg-path | <-> [ TUN ] right host
//!                          one thread, epoll and timerfd
//! ```
//!
//! Every run reports how late it released packets and what the host lost, and whether it may be taken for
//! what the scenario describes.
//!
//! # Limits
//! Linux. One hop. Packets of at most 1500 bytes; the kernel does not offload segmentation to the device.
//! Capacity counts IP packets: the `overhead` of a scenario does not apply to packets with real headers.

mod connection;
mod emulator;
mod flow_trace;
mod frame;
mod histogram;
mod host;
mod outcome;
mod play;
mod quic_ends;
mod report;
mod request;
mod samples;
mod scenario;
mod series;
mod socket;
mod sys;
mod tcp_ends;
mod traffic;
mod trial;
mod udp;

pub use play::serve;
pub use scenario::{Carrier, LiveScenario, path_from_toml};
