//! What the controllers of real-time media have in common: SCReAMv2, NADA and GCC.
//!
//! Each was made for RTP, whose receiver reports when every packet arrived (RFC 8888 section 3.1). Over QUIC that is
//! what draft-smith-quic-receive-ts section 3 adds to ACK frames. The modelled endpoint reports it; other transports
//! do not, and there the receipt of an ACK stands for the arrival of the largest packet that it newly acknowledges
//! ([`feedback`]): the delay of ACKs then counts as a queue.
//!
//! Feedback comes as often as QUIC acknowledges, every other packet or after 25 ms by default, which is more often than
//! RTCP (RFC 8888 section 4) would report.

pub(crate) mod feedback;
pub(crate) mod one_way_delay;
pub(crate) mod rates;
pub(crate) mod recent;
#[cfg(test)]
mod tests;

pub(crate) use feedback::Feedback;
pub(crate) use one_way_delay::OneWayDelay;
pub(crate) use rates::Rates;
pub(crate) use recent::Recent;
