//! Packets: the flow sends full ones as the window allows, and the test decides which arrive and when.
//!
//! The [`PathState`](crate::PathState) stays consistent with the events, which come in the order that
//! [`Controller`] promises.
//!
//! # Limits
//! Packets are full. Nothing is paced. There is no delivery
//! rate unless the test sets `path.delivery_rate`, `path.peak_rate` and `rate`.

use super::Flow;
use crate::Controller;
use crate::event::{Ack, Lost, Sent, Snapshot, SpuriousLoss, Timeout};
use thalweg_units::{Bytes, Duration, Ecn};

impl<C: Controller + ?Sized> Flow<C> {
    /// The packets in flight, oldest first.
    pub fn in_flight(&self) -> Vec<u64> {
        self.outstanding.keys().copied().collect()
    }

    /// Sends one packet, whatever the window.
    pub fn send(&mut self) -> u64 {
        let packet = self.path.next_packet;
        let prior = self.path.bytes_in_flight;
        self.path.next_packet += 1;
        self.path.bytes_in_flight += self.size;
        self.path.app_limited = self.app_limited;
        self.path.window_limited = self.path.bytes_in_flight + self.size > self.window();
        let snapshot = Snapshot::at_send(self.now, &self.path);
        self.outstanding.insert(packet, snapshot);
        let sent = Sent {
            packet,
            size: self.size,
            prior_in_flight: prior,
            was_idle: prior == Bytes::ZERO,
        };
        self.call(|controller, cx| controller.on_sent(&sent, cx));
        packet
    }

    /// Sends until the window is full.
    pub fn fill_window(&mut self) {
        while self.path.bytes_in_flight + self.size <= self.window() {
            self.send();
        }
        self.path.window_limited = true;
    }

    /// The oldest packet arrives now, alone in its ACK.
    pub fn ack_next(&mut self) {
        if let Some(packet) = self.outstanding.keys().next().copied() {
            self.ack(packet);
        }
    }

    /// One packet arrives now, alone in its ACK.
    pub fn ack(&mut self, packet: u64) {
        self.ack_all(&[packet]);
    }

    /// Packets that arrive in one ACK now; those that are not in flight are ignored.
    pub fn ack_all(&mut self, packets: &[u64]) {
        self.ack_marked(packets, 0);
    }

    /// Packets that arrive in one ACK now, `marked` of them with a CE mark.
    pub fn ack_marked(&mut self, packets: &[u64], marked: u64) {
        if let Some(ack) = self.receive(packets, marked) {
            self.call(|controller, cx| controller.on_ack(&ack, cx));
        }
    }

    /// The same without the last step: reports marks and the RTT sample, and gives the ACK to report.
    pub fn receive(&mut self, packets: &[u64], marked: u64) -> Option<Ack> {
        let acked: Vec<(u64, Snapshot)> = packets
            .iter()
            .filter_map(|p| Some((*p, self.outstanding.remove(p)?)))
            .collect();
        let (largest, newest) = acked.iter().max_by_key(|(p, _)| *p)?;
        let prior_in_flight = self.path.bytes_in_flight;
        let newly_acked = (self.size - self.tag) * acked.len() as u64;
        self.path.bytes_in_flight -= self.size * acked.len() as u64;
        self.path.delivered += newly_acked;
        self.path.largest_acked = self.path.largest_acked.max(Some(*largest));
        self.path.newest_acked_data_sent = self.path.newest_acked_data_sent.max(newest.sent);
        self.path.lowest_unacked = self
            .outstanding
            .keys()
            .next()
            .copied()
            .unwrap_or(self.path.next_packet);
        self.count_ecn(*largest, acked.len() as u64, marked);
        let rtt = self.now - newest.sent;
        self.path.take_rtt(rtt, Duration::ZERO);
        self.report_rtt();
        Some(Ack {
            largest: *largest,
            newly_acked,
            newly_acked_packets: acked.len() as u64,
            newly_lost: Bytes::ZERO,
            lost_ranges: 0,
            rtt: Some(rtt),
            snapshot: newest.compare(&self.path),
            rate: self.rate.clone(),
            prior_in_flight,
        })
    }

    /// A packet is declared lost.
    pub fn lose(&mut self, packet: u64) {
        self.declare_lost(packet, false);
    }

    /// A packet is declared lost and completes a period of persistent congestion.
    pub fn lose_persistently(&mut self, packet: u64) {
        self.declare_lost(packet, true);
    }

    fn declare_lost(&mut self, packet: u64, persistent_congestion: bool) {
        let Some(snapshot) = self.outstanding.remove(&packet) else {
            return;
        };
        self.path.bytes_in_flight -= self.size;
        self.lost.insert(packet, snapshot.clone());
        self.report_lost(packet, snapshot, persistent_congestion);
    }

    /// Declares a packet lost by mistake: it stays in flight and may arrive.
    pub fn suspect(&mut self, packet: u64) -> Lost {
        let snapshot = self.outstanding[&packet].clone();
        self.report_lost(packet, snapshot, false)
    }

    fn report_lost(
        &mut self,
        packet: u64,
        snapshot: Snapshot,
        persistent_congestion: bool,
    ) -> Lost {
        self.path.lost += self.size;
        let lost = Lost {
            packet,
            size: self.size,
            snapshot: snapshot.compare(&self.path),
            persistent_congestion,
        };
        self.call(|controller, cx| controller.on_lost(&lost, cx));
        lost
    }

    /// A packet that was declared lost, or only timed out, is acknowledged.
    pub fn spurious(&mut self, packet: u64) {
        let timeout_only = !self.lost.contains_key(&packet);
        let sent = self
            .lost
            .remove(&packet)
            .map_or(self.now, |snapshot| snapshot.sent);
        if !timeout_only {
            self.path.lost -= self.size;
        }
        let event = SpuriousLoss {
            packet,
            size: self.size,
            sent,
            timeout_only,
        };
        self.call(|controller, cx| controller.on_spurious_loss(&event, cx));
    }

    /// The first probe timeout fires for the oldest packet in flight.
    pub fn timeout(&mut self) {
        self.timeout_number(1);
    }

    /// A probe timeout fires for the oldest packet in flight, `count` of them in a row.
    pub fn timeout_number(&mut self, count: u32) {
        let Some((packet, snapshot)) = self.outstanding.iter().next() else {
            return;
        };
        let event = Timeout {
            count,
            packet: *packet,
            snapshot: snapshot.compare(&self.path),
        };
        self.call(|controller, cx| controller.on_timeout(&event, cx));
    }

    /// An ACK of `packet` reports one more CE mark.
    pub fn mark_ce(&mut self, packet: u64) {
        self.count_ecn(packet, 1, 1);
    }

    /// An ACK up to `largest` counts this many more packets, `marked` of them with a CE mark.
    fn count_ecn(&mut self, largest: u64, packets: u64, marked: u64) {
        let counts = &mut self.path.ecn;
        match self.controller.ecn() {
            Ecn::Ect0 => counts.ect0 += packets - marked,
            Ecn::Ect1 => counts.ect1 += packets - marked,
            Ecn::NotEct | Ecn::Ce => {}
        }
        counts.ce += marked;
        counts.largest_acked = largest;
        let counts = *counts;
        if marked > 0 {
            self.call(|controller, cx| controller.on_ecn(&counts, cx));
        }
    }

    /// Sends a window, waits `rtt`, and acknowledges each of its packets.
    pub fn round(&mut self, rtt: Duration) {
        self.fill_window();
        self.advance(rtt);
        for packet in self.in_flight() {
            self.ack(packet);
        }
    }
}
