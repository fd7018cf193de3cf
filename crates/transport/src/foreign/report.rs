//! Processes the reports on one acknowledgement and passes them to the controller in the order of its trait.

use super::StackFlow;
use super::outstanding::{Acked, Batch, Forgotten};
use crate::rtt;
use thalweg_control::event::{Ack, RateSample, RttSample, SpuriousLoss};
use thalweg_units::{Bytes, Duration, Ecn};

impl StackFlow {
    /// Passes the collected reports to the controller (in the order of the `Controller` trait).
    pub fn flush(&mut self) {
        if self.batch.is_empty() {
            self.batch.ended = false;
            return;
        }
        let mut batch = std::mem::take(&mut self.batch);
        let prior_in_flight = self.sender.path.bytes_in_flight;
        let mut acked = self.settle_acked(&mut batch.acked);
        if let Some(acked) = &mut acked {
            acked.bytes += std::mem::take(&mut self.late);
        }
        if batch.spurious {
            self.tell_spurious();
        }
        self.count_marks(acked.as_ref(), batch.marks);
        let (mut rtt, mut rate) = (None, None);
        if let Some(acked) = &acked {
            rtt = self.take_rtt(acked);
            self.sender.offer_seed(self.now);
            self.sender.rate.on_delivered(self.now, acked.bytes);
            rate = self
                .sender
                .rate
                .on_ack(self.now, &acked.state, &mut self.sender.path);
            self.sender.path.largest_acked =
                self.sender.path.largest_acked.max(Some(acked.largest));
            self.timeouts = 0;
        }
        let (newly_lost, lost_ranges) = self.tell_lost(&batch.lost, batch.persistent);
        if batch.persistent {
            self.sender.forget_min_rtt();
        }
        self.forget_settled();
        if let Some(acked) = acked {
            self.tell_acked(&acked, newly_lost, lost_ranges, rtt, rate, prior_in_flight);
        }
        self.sender.decide();
        // The lists keep their capacity.
        batch.acked.clear();
        batch.lost.clear();
        self.batch = Batch {
            acked: batch.acked,
            lost: batch.lost,
            ..Batch::default()
        };
    }

    fn settle_acked(&mut self, numbers: &mut [u64]) -> Option<Acked> {
        numbers.sort_unstable();
        let mut newly: Option<Acked> = None;
        for &number in &*numbers {
            let Some(position) = self.find(number) else {
                continue;
            };
            let packet = &mut self.sent[position];
            packet.settled = true;
            self.sender
                .log
                .acknowledged(self.now, number, packet.size().as_u64());
            if !packet.is_probe {
                self.sender.path.bytes_in_flight -= packet.size();
            }
            let sent = packet.state.sent;
            self.sender.path.newest_acked_data_sent =
                self.sender.path.newest_acked_data_sent.max(sent);
            let (bytes, packets) = newly.map_or((Bytes::ZERO, 0), |n| (n.bytes, n.packets));
            newly = Some(Acked {
                largest: number,
                bytes: bytes + self.sender.counted(packet.size()),
                packets: packets + 1,
                state: packet.state,
            });
        }
        self.forget_settled();
        newly
    }

    fn take_rtt(&mut self, acked: &Acked) -> Option<Duration> {
        if self
            .sender
            .path
            .largest_acked
            .is_some_and(|n| n >= acked.largest)
        {
            return None;
        }
        let raw = self.now - acked.state.sent;
        // RFC 9002 section 5.3: smoothed' = 7/8 smoothed + 1/8 adjusted.
        let adjusted = match self.smoothed.take() {
            Some((before, after)) => {
                self.smoothed = Some((after, after));
                if before == after || !self.sender.path.has_rtt() {
                    raw
                } else {
                    (after * 8 - before * 7).min(raw)
                }
            }
            None => raw,
        };
        let rtt = self.sender.take_rtt(raw, raw - adjusted);
        let event = RttSample { rtt, raw };
        self.sender
            .tell_if_established(self.now, |controller, cx| controller.on_rtt(&event, cx));
        Some(rtt)
    }

    /// Counts acknowledged packets as an ACK frame would (RFC 9000 section 19.3.2), and reports a mark.
    fn count_marks(&mut self, acked: Option<&Acked>, marks: u64) {
        let (largest, packets) = acked.map_or((0, 0), |a| (a.largest, a.packets));
        let counts = &mut self.sender.path.ecn;
        counts.largest_acked = largest.max(counts.largest_acked);
        counts.ce += marks;
        let unmarked = packets.saturating_sub(marks);
        match self.codepoint {
            Ecn::Ect0 => counts.ect0 += unmarked,
            Ecn::Ect1 => counts.ect1 += unmarked,
            Ecn::NotEct | Ecn::Ce => {}
        }
        if marks > 0 {
            let event = *counts;
            self.sender
                .tell_if_established(self.now, |controller, cx| controller.on_ecn(&event, cx));
        }
    }

    fn tell_lost(&mut self, numbers: &[u64], persistent: bool) -> (Bytes, u32) {
        let keep = rtt::probe_timeout(&self.sender.path, Duration::ZERO) * 2;
        let now = self.now;
        if !numbers.is_empty() {
            self.recently_lost.retain(|lost| now - lost.sent <= keep);
        }
        let (mut bytes, mut ranges, mut expected) = (Bytes::ZERO, 0, None);
        for (index, &number) in numbers.iter().enumerate() {
            let Some(position) = self.find(number) else {
                continue;
            };
            let packet = &mut self.sent[position];
            packet.settled = true;
            let (state, in_flight) = (packet.state, !packet.is_probe);
            let persistent = persistent && index + 1 == numbers.len();
            let event = (self.sender).lose(now, number, &state, in_flight, persistent);
            bytes += self.sender.counted(event.size);
            ranges += u32::from(expected != Some(number));
            expected = Some(number + 1);
            self.recently_lost.push_back(Forgotten {
                number,
                size: event.size,
                sent: state.sent,
            });
            self.sender
                .tell_if_established(now, |controller, cx| controller.on_lost(&event, cx));
        }
        (bytes, ranges)
    }

    fn tell_spurious(&mut self) {
        while let Some(lost) = self.recently_lost.pop_front() {
            self.tell_late(&lost);
        }
    }

    /// A packet that was declared lost has arrived.
    pub(super) fn tell_late(&mut self, lost: &Forgotten) {
        self.sender.path.lost -= self.sender.counted(lost.size);
        self.sender.counters.spurious_losses += 1;
        let event = SpuriousLoss {
            packet: lost.number,
            size: lost.size,
            sent: lost.sent,
            timeout_only: false,
        };
        self.sender.tell_if_established(self.now, |controller, cx| {
            controller.on_spurious_loss(&event, cx)
        });
    }

    fn tell_acked(
        &mut self,
        acked: &Acked,
        newly_lost: Bytes,
        lost_ranges: u32,
        rtt: Option<Duration>,
        rate: Option<RateSample>,
        prior_in_flight: Bytes,
    ) {
        let event = Ack {
            largest: acked.largest,
            newly_acked: acked.bytes,
            newly_acked_packets: acked.packets,
            newly_lost,
            lost_ranges,
            rtt,
            snapshot: acked.state.compare(&self.sender.path),
            rate,
            prior_in_flight,
        };
        self.sender
            .tell_if_established(self.now, |controller, cx| controller.on_ack(&event, cx));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TransportConfig;
    use rand_core::SeedableRng as _;
    use thalweg_control::event::EcnCounts;
    use thalweg_control::{ControllerSpec, Init, Rng};
    use thalweg_units::Instant;

    const SIZE: Bytes = Bytes::new(1200);

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    fn flow(controller: &str) -> StackFlow {
        let config = TransportConfig::default();
        let init = Init {
            now: at(0),
            mtu: config.initial_mtu,
            initial_window: config.initial_window,
            media: None,
        };
        let controller = controller.parse::<ControllerSpec>().unwrap().build(&init);
        let mut flow = StackFlow::new(Some(controller), config, init.now, Rng::seed_from_u64(1));
        flow.establish();
        flow
    }

    /// Acknowledges 100 packets in pairs, 20 ms after they were sent; every fifth acknowledgement has a mark.
    fn acknowledge(flow: &mut StackFlow) -> EcnCounts {
        for pair in 0..50 {
            let (sent, acked) = (at(100 * pair), at(100 * pair + 20));
            for number in [2 * pair, 2 * pair + 1] {
                flow.on_sent(sent, number, SIZE);
            }
            for number in [2 * pair, 2 * pair + 1] {
                flow.on_acked(acked, sent, number, SIZE, false);
            }
            if pair % 5 == 0 {
                flow.on_marked(acked);
            }
            flow.on_acks_ended(acked);
        }
        flow.flush();
        flow.path().ecn
    }

    /// RFC 9000 section 19.3.2: each packet is counted by its codepoint, marked or not.
    #[test]
    fn every_acknowledged_packet_counts_by_its_codepoint() {
        let counts = |ect0, ect1| EcnCounts {
            ect0,
            ect1,
            ce: 10,
            largest_acked: 99,
        };
        // 10 of 100 packets are marked.
        assert_eq!(acknowledge(&mut flow("prague")), counts(0, 90));
        assert_eq!(acknowledge(&mut flow("cubic")), counts(90, 0));
        let mut other = flow("prague");
        other.set_codepoint(Ecn::Ect0);
        assert_eq!(acknowledge(&mut other), counts(90, 0));
    }

    /// A log tells how many marks an acknowledgement has, and which lost packet arrived after all.
    #[test]
    fn marks_are_counted_and_one_late_packet_is_spurious() {
        let mut flow = flow("cubic");
        for number in 0..6 {
            flow.on_sent(at(0), number, SIZE);
        }
        for number in 2..6 {
            flow.on_acked(at(20), at(0), number, SIZE, false);
        }
        flow.on_marks(at(20), 3);
        flow.on_acks_ended(at(20));
        flow.on_lost(at(20), 0, SIZE);
        flow.on_lost(at(20), 1, SIZE);
        flow.flush();
        assert_eq!(flow.path().ecn.ce, 3);
        assert_eq!(flow.path().ecn.ect0, 1); // of four packets
        assert_eq!(flow.path().lost, SIZE * 2);
        flow.on_late(at(25), 1);
        assert_eq!(flow.counters().spurious_losses, 1);
        assert_eq!(flow.path().lost, SIZE);
        flow.on_late(at(26), 1);
        assert_eq!(flow.counters().spurious_losses, 1);
        // It has been delivered, which counts with the next acknowledgement.
        let delivered = flow.path().delivered;
        flow.on_sent(at(26), 6, SIZE);
        flow.on_acked(at(46), at(26), 6, SIZE, false);
        flow.flush();
        assert_eq!(flow.path().delivered - delivered, SIZE * 2);
    }
}
