//! The end of a flow: its data is delivered completely, and not before physics allows it.

use super::finding::{Verdict, hold};
use crate::scenario::floor;
use crate::scenario::supply::Supply;
use crate::scenario::{Metric, Scenario, Workload};
use crate::trial::connection::Connection;
use thalweg_units::{Bytes, Duration, Instant};

/// Stream bytes from the client and from the server, if the workload determines them.
pub(super) fn stream_bytes(workload: &Workload) -> [Option<u64>; 2] {
    match workload {
        Workload::Download {
            bytes,
            request,
            streams,
            supply,
        } => [
            Some(request.as_u64().max(1) * requests(*streams, supply.as_ref())),
            Some(bytes.as_u64()),
        ],
        Workload::Upload { bytes, .. } => [Some(bytes.as_u64()), Some(0)],
        Workload::Call(_) | Workload::Requests(_) => [None, None],
    }
}

/// Requests of a download: one on each stream.
fn requests(streams: u32, supply: Option<&Supply>) -> u64 {
    supply.map_or(u64::from(streams), |supply| supply.chunks.len() as u64)
}

/// Checks a connection at the end of its trial. Of a flow of requests each is a download.
pub(crate) fn check(scenario: &Scenario, connection: &Connection) -> Verdict {
    let Some(completion) = connection.completion else {
        return Ok(());
    };
    let bytes = match connection.workload {
        Workload::Download { bytes, .. } | Workload::Upload { bytes, .. } => bytes,
        Workload::Call(_) | Workload::Requests(_) => return Ok(()),
    };
    whole(connection.delivered(), bytes)?;
    let mut spec = scenario.flows[connection.flow].clone();
    spec.workload = connection.workload.clone();
    spec.start = connection.start - Instant::START;
    // There is no floor.
    let mut links = spec
        .route
        .iter()
        .flat_map(|hop| scenario.hops[*hop].links.iter());
    let traced_noise = links.any(|link| link.trace.is_some() && link.noise.is_some());
    let ends = [
        (Metric::Completion, Some(completion)),
        (Metric::Closed, connection.closed),
    ];
    for (metric, end) in ends {
        let floor = floor::of(&scenario.hops, &spec, scenario.overhead, metric);
        if let (Some(floor), Some(end)) = (floor, end)
            && !traced_noise
        {
            not_before(metric, end, floor)?;
        }
    }
    Ok(())
}

fn whole(delivered: Bytes, bytes: Bytes) -> Verdict {
    hold(delivered == bytes, || {
        format!("is complete with {delivered} of {bytes}")
    })
}

fn not_before(metric: Metric, end: Instant, floor: Duration) -> Verdict {
    hold(end >= Instant::START + floor, || {
        format!(
            "reaches \"{}\" at {end}, below its floor of {floor}",
            metric.name()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_below_the_floor_is_found() {
        let floor = Duration::from_millis(90);
        let end = |nanos| not_before(Metric::Completion, Instant::from_nanos(nanos), floor);
        assert_eq!(end(90_000_000), Ok(()));
        let found = end(89_999_999).unwrap_err();
        assert!(found.contains("below its floor of 90 ms"), "{found}");
    }

    #[test]
    fn too_little_data_and_too_much_are_found() {
        assert_eq!(whole(Bytes::new(1000), Bytes::new(1000)), Ok(()));
        assert!(whole(Bytes::new(999), Bytes::new(1000)).is_err());
        assert!(whole(Bytes::new(1001), Bytes::new(1000)).is_err());
    }
}
