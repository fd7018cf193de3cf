//! A recovery episode: its end, and the window before it (draft-ietf-ccwg-bbr-06 section 5.6.4.4).
//!
//! Both versions of BBR restore the window when a packet is acknowledged that left late enough: after the episode began
//! (BBRv3), or after its last loss (BBRv1).

use thalweg_units::Bytes;

/// The running or last episode. ProbeRTT, which modulates the window too, saves and restores it in the same place.
#[derive(Clone, Debug, Default)]
pub struct RecoveryEpisode {
    /// Whether an episode is running.
    pub active: bool,
    /// First packet whose acknowledgement ends it.
    pub first_after: u64,
    /// Whether a timeout was part of it.
    timeout: bool,
    /// BBR.prior_cwnd.
    prior_cwnd: Bytes,
}

impl RecoveryEpisode {
    /// SaveCwnd(): the window, or the largest one while recovery or ProbeRTT modulates it.
    pub fn save_cwnd(&mut self, cwnd: Bytes, in_probe_rtt: bool) {
        let is_modulated = self.active || in_probe_rtt;
        self.prior_cwnd = if is_modulated {
            self.prior_cwnd.max(cwnd)
        } else {
            cwnd
        };
    }

    /// RestoreCwnd(): the window after the modulation.
    pub fn restored(&self, cwnd: Bytes) -> Bytes {
        cwnd.max(self.prior_cwnd)
    }

    /// An episode begins; `next_packet` is the first that leaves after it.
    pub fn begin(&mut self, cwnd: Bytes, in_probe_rtt: bool, next_packet: u64) {
        self.save_cwnd(cwnd, in_probe_rtt);
        (self.active, self.timeout) = (true, false);
        self.first_after = next_packet;
    }

    /// A retransmission timeout: returns whether it is the first of the episode, and saves the window then.
    pub fn note_timeout(&mut self, cwnd: Bytes, in_probe_rtt: bool) -> bool {
        let is_first = !self.timeout;
        if is_first {
            self.save_cwnd(cwnd, in_probe_rtt);
            self.timeout = true;
        }
        is_first
    }

    /// Ends the episode if `largest` left late enough; returns whether it did.
    pub fn ends_with(&mut self, largest: u64) -> bool {
        let ends = self.active && largest >= self.first_after;
        if ends {
            (self.active, self.timeout) = (false, false);
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kb(n: u64) -> Bytes {
        Bytes::new(n * 1000)
    }

    #[test]
    fn the_largest_window_before_the_modulation_comes_back() {
        let mut recovery = RecoveryEpisode::default();
        recovery.begin(kb(80), false, 7);
        // A timeout in the episode, with the window already cut.
        assert!(recovery.note_timeout(kb(30), false));
        assert!(!recovery.note_timeout(kb(1), false));
        assert_eq!(recovery.restored(kb(2)), kb(80));
        // The next episode knows nothing of it.
        assert!(recovery.ends_with(7));
        recovery.begin(kb(20), false, 9);
        assert_eq!(recovery.restored(kb(2)), kb(20));
        assert!(recovery.note_timeout(kb(10), false));
    }

    #[test]
    fn an_episode_in_probe_rtt_keeps_the_window_from_before_both() {
        let mut recovery = RecoveryEpisode::default();
        recovery.save_cwnd(kb(80), false);
        recovery.begin(kb(4), true, 7);
        assert_eq!(recovery.restored(kb(4)), kb(80));
    }

    #[test]
    fn an_episode_ends_once_with_the_first_packet_that_left_after_it_began() {
        let mut recovery = RecoveryEpisode::default();
        assert!(!recovery.ends_with(100));
        recovery.begin(kb(80), false, 7);
        let ends = [6, 7, 8].map(|largest| recovery.ends_with(largest));
        assert_eq!(ends, [false, true, false]);
    }
}
