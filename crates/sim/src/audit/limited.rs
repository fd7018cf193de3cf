//! What limited a sender: exactly one thing at each instant of the life of its flow.

use super::finding::{Verdict, hold};
use crate::trial::connection::Connection;
use thalweg_units::{Duration, Instant};

/// Checks a connection at the end of its trial.
pub(super) fn check(connection: &Connection, now: Instant) -> Verdict {
    let ended = connection
        .completion
        .or(connection.tripped.map(|(at, _)| at));
    // A connection that the trial did not come to has no life.
    let life = ended.unwrap_or(now).since(connection.start);
    for side in connection.senders() {
        if let Some(times) = connection.end(side).limited_times(now) {
            whole(times, life)?;
        }
    }
    Ok(())
}

fn whole(times: [Duration; 6], life: Duration) -> Verdict {
    let sum: Duration = times.into_iter().sum();
    hold(sum == life, || {
        format!("was limited for {sum} of a life of {life}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_do_not_add_up_to_the_life_of_a_flow_are_found() {
        let ms = Duration::from_millis;
        let times = [1, 2, 3, 4, 5, 6].map(ms);
        assert_eq!(whole(times, ms(21)), Ok(()));
        assert!(whole(times, ms(20)).is_err());
        assert!(whole(times, ms(22)).is_err());
    }
}
