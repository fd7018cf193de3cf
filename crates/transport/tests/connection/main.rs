//! Two endpoints joined by a pipe in virtual time: what a connection does, as its peer and its controller
//! see it. Clauses are from RFC 9000, RFC 9001 and RFC 9002.

mod acknowledgements;
mod any_network;
mod arrivals;
mod closing;
mod datagrams;
mod flow_control;
mod handshake;
mod loss_recovery;
mod pacing;
mod pair;
mod path_mtu;
mod scribe;
mod short_ways;
mod streams;
