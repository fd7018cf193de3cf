//! ECN validation (RFC 9000 section 13.4.2 and appendix A.4): whether a path keeps the codepoints of packets.
//!
//! # Model
//! A path begins in the state *testing*, in which packets have the codepoint of the controller. ACK frames have to
//! count, as ECT or CE, every packet that they acknowledge and that was sent with a codepoint (section 13.4.2.1): the
//! path is then *capable*. If they count fewer, something clears or rewrites codepoints, the path has *failed*, and
//! packets have none from then on (section 13.4.2.2). Without an answer, testing ends after three probe timeouts, the
//! state is *unknown*, and packets have no codepoint until the packets of the test are acknowledged.
//!
//! # Limits
//! A test ends by time and not after ten packets, so that all of a first flight has the same codepoint. Appendix A.4 has
//! a path become capable at the end of the test only; here it does with the first answer. A failed path is not tested
//! again. That a receiver or a path takes marks off and leaves ECT cannot be seen (RFC 3168 section 7).

use thalweg_control::event::EcnCounts;
use thalweg_units::Ecn;

/// Consecutive probe timeouts, each after twice the time of the one before, that take three times the first.
const TESTING: u32 = 2;

/// State of a path, by the names of appendix A.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Testing,
    Unknown,
    Capable,
    Failed,
}

/// Packets sent with each codepoint that have been acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AckedByCodepoint {
    ect0: u64,
    ect1: u64,
}

impl AckedByCodepoint {
    /// One more.
    #[inline]
    pub(crate) fn add(&mut self, sent_with: Ecn) {
        self.ect0 += u64::from(sent_with == Ecn::Ect0);
        self.ect1 += u64::from(sent_with == Ecn::Ect1);
    }
}

/// The validation of one path.
#[derive(Debug)]
pub(crate) struct EcnValidation {
    state: State,
    acked: AckedByCodepoint,
}

impl EcnValidation {
    /// The state for a path of which nothing is known.
    pub(crate) fn new() -> Self {
        EcnValidation {
            state: State::Testing,
            acked: AckedByCodepoint::default(),
        }
    }

    /// The codepoint of packets whose controller wants `wanted`.
    #[inline]
    pub(crate) fn codepoint(&self, wanted: Ecn) -> Ecn {
        match self.state {
            State::Testing | State::Capable => wanted,
            State::Unknown | State::Failed => Ecn::NotEct,
        }
    }

    /// An ACK frame has newly acknowledged `acked`, and has these counts, if it is newer than all before: an older one
    /// must not fail the path (section 13.4.2.1). Whether its counts can be used.
    #[inline]
    pub(crate) fn on_ack(&mut self, acked: AckedByCodepoint, newest: Option<&EcnCounts>) -> bool {
        self.acked.ect0 += acked.ect0;
        self.acked.ect1 += acked.ect1;
        if let Some(counts) = newest {
            let covers_ect0 = counts.ect0 + counts.ce >= self.acked.ect0;
            let covers_ect1 = counts.ect1 + counts.ce >= self.acked.ect1;
            if !(covers_ect0 && covers_ect1) {
                self.state = State::Failed;
            } else if self.state != State::Failed && self.acked != AckedByCodepoint::default() {
                self.state = State::Capable;
            }
        }
        self.state != State::Failed
    }

    /// So many probe timeouts have passed without an answer.
    pub(crate) fn on_timeout(&mut self, consecutive: u32) {
        if self.state == State::Testing && consecutive >= TESTING {
            self.state = State::Unknown;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What acknowledges so many packets of a codepoint.
    fn acked(codepoint: Ecn, packets: u64) -> AckedByCodepoint {
        let mut acked = AckedByCodepoint::default();
        (0..packets).for_each(|_| acked.add(codepoint));
        acked
    }

    fn counts(ect0: u64, ect1: u64, ce: u64) -> EcnCounts {
        EcnCounts {
            ect0,
            ect1,
            ce,
            largest_acked: 0,
        }
    }

    #[test]
    fn counts_that_cover_what_is_acknowledged_make_a_path_capable() {
        for (codepoint, right) in [
            (Ecn::Ect0, counts(2, 0, 0)),
            (Ecn::Ect0, counts(1, 0, 1)),
            (Ecn::Ect1, counts(0, 0, 2)),
        ] {
            let mut path = EcnValidation::new();
            assert!(path.on_ack(acked(codepoint, 2), Some(&right)));
            assert_eq!(
                (path.state, path.codepoint(codepoint)),
                (State::Capable, codepoint)
            );
        }
    }

    #[test]
    fn a_count_that_is_too_small_or_of_another_codepoint_fails_the_path_for_good() {
        for wrong in [counts(0, 0, 0), counts(1, 0, 0), counts(0, 2, 0)] {
            let mut path = EcnValidation::new();
            assert!(!path.on_ack(acked(Ecn::Ect0, 2), Some(&wrong)), "{wrong:?}");
            assert_eq!(path.codepoint(Ecn::Ect0), Ecn::NotEct);
            assert!(!path.on_ack(acked(Ecn::NotEct, 9), Some(&counts(9, 9, 9))));
        }
        // Later too: a route may change.
        let mut path = EcnValidation::new();
        assert!(path.on_ack(acked(Ecn::Ect1, 5), Some(&counts(0, 5, 0))));
        assert!(!path.on_ack(acked(Ecn::Ect1, 5), Some(&counts(0, 9, 0))));
    }

    #[test]
    fn an_acknowledgement_that_was_overtaken_fails_nothing_and_counts_for_the_next() {
        let mut path = EcnValidation::new();
        assert!(path.on_ack(acked(Ecn::Ect0, 4), Some(&counts(6, 0, 0))));
        assert!(path.on_ack(acked(Ecn::Ect0, 2), None));
        assert!(path.on_ack(acked(Ecn::Ect0, 1), Some(&counts(7, 0, 0))));
        assert!(!path.on_ack(acked(Ecn::Ect0, 1), Some(&counts(7, 0, 0))));
    }

    #[test]
    fn without_an_answer_the_test_ends_after_three_probe_timeouts_until_it_is_answered() {
        let mut path = EcnValidation::new();
        path.on_timeout(1);
        assert_eq!(path.codepoint(Ecn::Ect0), Ecn::Ect0);
        path.on_timeout(2);
        assert_eq!(
            (path.state, path.codepoint(Ecn::Ect0)),
            (State::Unknown, Ecn::NotEct)
        );
        // Packets without a codepoint show nothing.
        assert!(path.on_ack(acked(Ecn::NotEct, 1), Some(&counts(0, 0, 0))));
        assert_eq!(path.state, State::Unknown);
        assert!(path.on_ack(acked(Ecn::Ect0, 1), Some(&counts(1, 0, 0))));
        assert_eq!(path.codepoint(Ecn::Ect0), Ecn::Ect0);
        // A path that works is not given up.
        path.on_timeout(9);
        assert_eq!(path.state, State::Capable);
    }
}
