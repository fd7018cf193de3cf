//! Keys of `queue`.

use crate::buffer_size::BufferSize;
use crate::cake_rtt::CakeRtt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Duration, Fraction, Rate};

/// Queue disciplines; defaults are from their RFCs.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, tag = "model", rename_all = "kebab-case")]
pub enum Queue {
    /// First in, first out; drops what does not fit.
    DropTail {},
    /// First in, first out; what does not fit displaces the oldest packets (RFC 7567 section 2).
    HeadDrop {},
    /// Controlled delay (RFC 8289).
    Codel {
        /// Acceptable standing queue delay; "5 ms".
        target: Option<Duration>,
        /// Time within which the wait must fall below the target; "100 ms".
        interval: Option<Duration>,
        /// Whether ECN-capable packets are marked instead of dropped; true.
        ecn: Option<bool>,
        /// ECN-capable packets that waited longer are marked immediately, as `ce_threshold` of `tc-codel`; none.
        ce_threshold: Option<Duration>,
    },
    /// Fair queueing with CoDel (RFC 8290).
    FqCodel {
        /// Acceptable standing queue delay; "5 ms".
        target: Option<Duration>,
        /// Time within which the wait must fall below the target; "100 ms".
        interval: Option<Duration>,
        /// Whether ECN-capable packets are marked instead of dropped; true.
        ecn: Option<bool>,
        /// ECN-capable packets that waited longer are marked immediately, as `ce_threshold` of `tc-codel`; none.
        ce_threshold: Option<Duration>,
        /// Number of queues that flows are hashed to; 1024.
        flows: Option<u32>,
        /// Bytes that a queue may send per round; "1514 B".
        quantum: Option<Bytes>,
    },
    /// A shaper and fair queueing with COBALT (tc-cake, one tin).
    Cake {
        /// Rate of the shaper, below the rate of the link; none.
        bandwidth: Option<Rate>,
        /// Round-trip time of most flows, or a name of `tc-cake` for one; "internet".
        rtt: Option<CakeRtt>,
        /// Drops ACKs of modelled flows that newer ones in the queue make superfluous; none.
        ack_filter: Option<AckFilter>,
        /// Bytes that the link behind the shaper adds to each IP packet; "0 B".
        overhead: Option<Bytes>,
        /// Least size of a frame there, with its overhead; "0 B".
        mpu: Option<Bytes>,
        /// Cells or blocks that frames are cut into there; none.
        framing: Option<Framing>,
    },
    /// Proportional integral controller enhanced (RFC 8033).
    Pie {
        /// Target queue delay; "15 ms".
        target: Option<Duration>,
        /// Time between updates of the probability; "15 ms".
        update: Option<Duration>,
        /// How long a burst into an idle queue passes without drops; "150 ms".
        burst: Option<Duration>,
        /// Whether ECN-capable packets are marked; false, as in Linux.
        ecn: Option<bool>,
        /// Up to this probability; "10 %".
        mark_below: Option<Fraction>,
    },
    /// Dual-queue coupled AQM for L4S (RFC 9332).
    #[serde(rename = "dualpi2")]
    DualPi2 {
        /// Target queue delay for Classic traffic; "15 ms".
        target: Option<Duration>,
        /// Largest round-trip time for which the controller is stable; "100 ms".
        max_rtt: Option<Duration>,
        /// Delay of the low-latency queue at which marking starts; "1 ms".
        step: Option<Duration>,
        /// Additional delay at which all are marked; "0 s" is a step.
        ramp: Option<Duration>,
    },
    /// Random early detection (Floyd and Jacobson 1993).
    Red {
        /// Average queue below which nothing is dropped; "7500 B".
        min: Option<Bytes>,
        /// Average queue at which the probability is `max_probability`; "22500 B".
        max: Option<Bytes>,
        /// "10 %".
        max_probability: Option<Fraction>,
        /// Whether the probability continues to rise linearly above `max`; true.
        gentle: Option<bool>,
        /// Whether ECN-capable packets are marked; false, as in Linux.
        ecn: Option<bool>,
    },
    /// Step marking, for DCTCP (RFC 8257 section 3.1).
    Step {
        /// The longest queue in which a packet is not marked.
        #[schemars(example = "65 packets")]
        threshold: BufferSize,
        /// Whether packets that cannot be marked are dropped above it; false.
        drop: Option<bool>,
    },
}

/// What carries the frames of the link that CAKE shapes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// Cells of 53 bytes for 48, as on ADSL.
    Atm,
    /// A byte for each 64, as on VDSL2.
    Ptm,
}

/// Which ACKs CAKE drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckFilter {
    /// The oldest of three of a flow (`ack-filter`).
    Conservative,
    /// The older of two in a row as well (`ack-filter-aggressive`).
    Aggressive,
}
