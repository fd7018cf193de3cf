//! How the applications of a download provide its data, where that is not all at once.

use std::sync::Arc;
use thalweg_units::{Bytes, Duration, Rate};

/// What limits a download in addition to the network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Supply {
    /// The lengths of its chunks, each of which the client requests when it has the one before.
    pub(crate) chunks: Arc<[Bytes]>,
    /// How long the client waits before it requests the next one.
    pub(crate) think: Duration,
    /// At which the application of the server writes; at once, without.
    pub(crate) rate: Option<Rate>,
    /// Beginnings and ends of times at which it writes nothing, from the start of the flow.
    pub(crate) pauses: Arc<[(Duration, Duration)]>,
}

impl Supply {
    /// A supply of chunks that the client requests one after the other, and the server has at hand.
    pub(crate) fn of_chunks(chunks: Vec<Bytes>, think: Duration) -> Self {
        Supply {
            chunks: chunks.into(),
            think,
            rate: None,
            pauses: Arc::new([]),
        }
    }

    /// Time that passes at least between the request for the first chunk and the last byte that is written, with this
    /// round trip between a chunk and the request for the next.
    pub(crate) fn least(&self, rtt: Duration) -> Duration {
        let between = (self.think + rtt) * (self.chunks.len() as u64).saturating_sub(1);
        let bytes = self.chunks.iter().copied().sum();
        let written = (self.rate).map_or(Duration::ZERO, |rate| rate.time_for(bytes));
        between.max(written)
    }
}
