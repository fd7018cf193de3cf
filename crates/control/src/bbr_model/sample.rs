//! The rate sample of one ACK, with the names of draft-ietf-ccwg-bbr-06 section 2.3 (RS).

use crate::Context;
use crate::event::Ack;
use thalweg_units::{Bytes, Duration, Rate};

/// The rate sample of one ACK: everything is about its most recently sent packet.
#[derive(Clone, Debug)]
pub struct Sample {
    /// RS.delivery_rate, if the interval was long enough.
    pub delivery_rate: Option<Rate>,
    /// RS.delivered: delivered between the departure of the packet and now.
    pub delivered: Bytes,
    /// RS.prior_delivered: total delivered when the packet left.
    pub prior_delivered: Bytes,
    /// RS.is_app_limited.
    pub is_app_limited: bool,
    /// Whether the window limited the sender when the packet left.
    pub is_window_limited: bool,
    /// RS.tx_in_flight: in flight when the packet left, the packet included.
    pub tx_in_flight: Bytes,
    /// RS.lost: declared lost between the departure of the packet and now.
    pub lost: Bytes,
    /// RS.newly_acked.
    pub newly_acked: Bytes,
    /// RS.rtt, from departure to acknowledgement (section 4.2). The acknowledgement delay stays in: the
    /// minimum filter removes it.
    pub rtt: Duration,
    /// C.delivered.
    pub total_delivered: Bytes,
    /// C.inflight, after this ACK.
    pub in_flight: Bytes,
}

impl Sample {
    /// Reads an ACK. `bubble` says whether the packet left in a gap that BBR itself made.
    pub fn of(ack: &Ack, cx: &Context<'_>, bubble: bool) -> Self {
        Sample {
            delivery_rate: ack.rate.as_ref().map(|sample| sample.rate),
            delivered: ack.snapshot.delivered_since_sent,
            prior_delivered: ack.snapshot.delivered_at_send,
            is_app_limited: ack.snapshot.app_limited || bubble,
            is_window_limited: ack.snapshot.window_limited,
            tx_in_flight: ack.snapshot.in_flight_at_send,
            lost: ack.snapshot.lost_since_sent,
            newly_acked: ack.newly_acked,
            rtt: cx.now - ack.snapshot.sent,
            total_delivered: cx.path.delivered,
            in_flight: cx.path.bytes_in_flight,
        }
    }
}
