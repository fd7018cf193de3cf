//! The columns of a trace that qlog has events of, as `docs/reference/results.md` names them.
//!
//! They come as JSON, in which a number that does not exist is null.

use serde::Deserialize;

/// A table by its columns, and whether all of them have a value for each row.
macro_rules! table {
    ($name:ident { $($column:ident: $kind:ty),* }) => {
        #[derive(Deserialize)]
        pub(super) struct $name {
            $(pub(super) $column: Vec<$kind>,)*
        }

        impl $name {
            fn is_even(&self) -> bool {
                let lengths = [$(self.$column.len()),*];
                lengths.iter().all(|length| *length == lengths[0])
            }
        }
    };
}

table!(Packets {
    time_s: f64,
    flow: String,
    event: String,
    first_packet: u64,
    last_packet: u64,
    size_bytes: u64
});
table!(Frames { time_s: f64, flow: String, stream: String, delay_s: Option<f64>, deadline_s: f64 });
table!(Held {
    time_s: f64,
    link: String,
    flow: String,
    held_s: f64
});
table!(Drops {
    time_s: f64,
    link: String,
    flow: String,
    reason: String
});
table!(Samples {
    time_s: f64,
    flow: String,
    state: Option<String>,
    smoothed_rtt_s: Option<f64>,
    latest_rtt_s: Option<f64>,
    window_bytes: Option<f64>,
    in_flight_bytes: Option<f64>,
    pacing_bps: Option<f64>
});

/// The tables; other tables and columns are passed over.
#[derive(Deserialize)]
pub(super) struct Trace {
    pub(super) packets: Packets,
    pub(super) frames: Frames,
    pub(super) held: Held,
    pub(super) drops: Drops,
    pub(super) flows: Samples,
}

impl Trace {
    /// The table whose columns have several lengths, if there is one.
    pub(super) fn uneven(&self) -> Option<&'static str> {
        let tables = [
            ("packets", self.packets.is_even()),
            ("frames", self.frames.is_even()),
            ("held", self.held.is_even()),
            ("drops", self.drops.is_even()),
            ("flows", self.flows.is_even()),
        ];
        let uneven = tables.iter().find(|(_, is_even)| !is_even);
        uneven.map(|(table, _)| *table)
    }
}
