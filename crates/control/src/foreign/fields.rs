//! What controllers in other languages are told: the fields of each event and of the path, said once. A field is a name, a
//! type, from which its unit follows, and how it is read.
//!
//! [`fields!`](crate::fields) hands the fields of a record to another macro. From them come the records of numbers of web pages
//! ([`Numbers`](super::Numbers)) and the attributes of the classes in Python (`bindings/src/controller/attributes.rs`).

/// Hands the fields of a record to the macro `$then`, behind its own arguments.
#[macro_export]
macro_rules! fields {
    (Path => $then:ident! $own:tt) => {
        $then! { $own [
            now: Instant = |at| at.now;
            mtu: Bytes = |at| at.path.mtu;
            smoothed_rtt: Duration = |at| at.path.smoothed_rtt;
            rtt_var: Duration = |at| at.path.rtt_var;
            min_rtt: Duration = |at| at.path.min_rtt;
            latest_rtt: Duration = |at| at.path.latest_rtt;
            bytes_in_flight: Bytes = |at| at.path.bytes_in_flight;
            delivered: Bytes = |at| at.path.delivered;
            lost: Bytes = |at| at.path.lost;
            delivery_rate: Rate = |at| at.path.delivery_rate;
            peak_rate: Rate = |at| at.path.peak_rate;
            next_packet: u64 = |at| at.path.next_packet;
            largest_acked: Option<u64> = |at| at.path.largest_acked;
            lowest_unacked: u64 = |at| at.path.lowest_unacked;
            ecn: $crate::event::EcnCounts = |at| at.path.ecn;
            established: bool = |at| at.path.established;
            window_limited: bool = |at| at.path.window_limited;
            app_limited: bool = |at| at.path.app_limited;
            last_idle: Instant = |at| at.path.last_idle;
            newest_acked_data_sent: Instant = |at| at.path.newest_acked_data_sent;
        ] }
    };
    (Ack => $then:ident! $own:tt) => {
        $then! { $own [
            largest: u64 = |event| event.largest;
            newly_acked: Bytes = |event| event.newly_acked;
            newly_acked_packets: u64 = |event| event.newly_acked_packets;
            newly_lost: Bytes = |event| event.newly_lost;
            lost_ranges: u32 = |event| event.lost_ranges;
            rtt: Option<Duration> = |event| event.rtt;
            prior_in_flight: Bytes = |event| event.prior_in_flight;
            rate: Option<$crate::event::RateSample> = |event| event.rate.clone();
            snapshot: $crate::event::Snapshot = |event| event.snapshot.clone();
        ] }
    };
    (Snapshot => $then:ident! $own:tt) => {
        $then! { $own [
            sent: Instant = |packet| packet.sent;
            in_flight_at_send: Bytes = |packet| packet.in_flight_at_send;
            delivered_at_send: Bytes = |packet| packet.delivered_at_send;
            lost_at_send: Bytes = |packet| packet.lost_at_send;
            delivered_since_sent: Bytes = |packet| packet.delivered_since_sent;
            lost_since_sent: Bytes = |packet| packet.lost_since_sent;
            app_limited: bool = |packet| packet.app_limited;
            window_limited: bool = |packet| packet.window_limited;
        ] }
    };
    (RateSample => $then:ident! $own:tt) => {
        $then! { $own [
            delivered: Bytes = |sample| sample.delivered;
            interval: Duration = |sample| sample.interval;
            rate: Rate = |sample| sample.rate;
            app_limited: bool = |sample| sample.app_limited;
        ] }
    };
    (Lost => $then:ident! $own:tt) => {
        $then! { $own [
            packet: u64 = |event| event.packet;
            size: Bytes = |event| event.size;
            persistent_congestion: bool = |event| event.persistent_congestion;
            snapshot: $crate::event::Snapshot = |event| event.snapshot.clone();
        ] }
    };
    (Sent => $then:ident! $own:tt) => {
        $then! { $own [
            packet: u64 = |event| event.packet;
            size: Bytes = |event| event.size;
            prior_in_flight: Bytes = |event| event.prior_in_flight;
            was_idle: bool = |event| event.was_idle;
        ] }
    };
    (Timeout => $then:ident! $own:tt) => {
        $then! { $own [
            count: u32 = |event| event.count;
            packet: u64 = |event| event.packet;
            snapshot: $crate::event::Snapshot = |event| event.snapshot.clone();
        ] }
    };
    (SpuriousLoss => $then:ident! $own:tt) => {
        $then! { $own [
            packet: u64 = |event| event.packet;
            size: Bytes = |event| event.size;
            sent: Instant = |event| event.sent;
            timeout_only: bool = |event| event.timeout_only;
        ] }
    };
    (EcnCounts => $then:ident! $own:tt) => {
        $then! { $own [
            ect0: u64 = |counts| counts.ect0;
            ect1: u64 = |counts| counts.ect1;
            ce: u64 = |counts| counts.ce;
            largest_acked: u64 = |counts| counts.largest_acked;
            total: u64 = |counts| counts.total();
        ] }
    };
    (RttSample => $then:ident! $own:tt) => {
        $then! { $own [
            rtt: Duration = |sample| sample.rtt;
            raw: Duration = |sample| sample.raw;
        ] }
    };
    (Report => $then:ident! $own:tt) => {
        $then! { $own [
            elapsed: Duration = |report| report.elapsed;
            delivered: Bytes = |report| report.delivered;
            sent: Bytes = |report| report.sent;
            lost: Bytes = |report| report.lost;
            marked: u64 = |report| report.marked;
            timeouts: u32 = |report| report.timeouts;
            min_rtt: Option<Duration> = |report| report.min_rtt;
            mean_rtt: Option<f64> = |report| report.mean_rtt();
            max_rtt: Option<Duration> = |report| report.max_rtt;
            delivery_rate: Rate = |report| report.delivery_rate();
            send_rate: Rate = |report| report.send_rate();
            max_delivery_rate: Rate = |report| report.max_rate;
            app_limited: bool = |report| report.app_limited;
        ] }
    };
}
