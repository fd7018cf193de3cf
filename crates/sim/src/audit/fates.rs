//! The fate of each numbered packet of a sender: it is sent once, acknowledged only after it has arrived,
//! and, without reordering, not declared lost if it arrives.
//!
//! # Limits
//! Beyond a gap, [`ACK_REPEATS`] ACK frames of the modelled endpoint report each packet (transport, Limits). If that
//! many packets were lost on the way back, or may have been overtaken there, a packet that arrived before a gap may be
//! declared lost. Each ACK frame of the real stack reports all that its receiver keeps: the newest runs of numbers
//! without a gap (RFC 9000 section 13.2.3). Packets before them may be declared lost.
//!
//! The real stack also numbers packets that are not ack-eliciting, and does not report their numbers. If as many of
//! them as there are numbers between two packets arrive between these, they fill the gap; otherwise each may be a run.

use super::finding::{Verdict, hold};
use std::collections::VecDeque;
use thalweg_transport::{ACK_REPEATS, PacketEvent, PacketFate};
use thalweg_units::Instant;

/// State of one packet number.
const SENT: u8 = 1;
const ARRIVED: u8 = 2;
/// Arrived at a receiver that was ready to acknowledge it.
const TAKEN: u8 = 4;
const LOST: u8 = 8;

/// The numbered packets of one sender.
pub(super) struct Fates {
    /// By packet number.
    known: Vec<u8>,
    /// Whether its packets arrive in the order in which they are sent.
    in_order: bool,
    /// The number after the largest that its receiver has processed.
    taken: u64,
    /// The newest number below that which did not arrive, or too early to be processed.
    gap: Option<u64>,
    /// Whether so many ACK frames of the modelled endpoint may be lost or late that none reported a packet before a gap.
    acks_missing: bool,
    /// Packets without a known number that its receiver has processed since the last one with a number.
    unnumbered: u64,
    /// First numbers of the runs that its receiver keeps, and their limit; unlimited if `None`.
    runs: VecDeque<u64>,
    most_runs: Option<usize>,
    /// Whether its receiver acknowledges only what has arrived.
    is_told_truth: bool,
    last_event: Instant,
}

impl Fates {
    /// `in_order` says whether packets keep their order, `acks_in_order` whether ACK frames do on the way back.
    pub(super) fn new(in_order: bool, acks_in_order: bool, most_runs: Option<usize>) -> Self {
        Fates {
            known: Vec::new(),
            in_order,
            taken: 0,
            gap: None,
            acks_missing: most_runs.is_none() && !acks_in_order,
            unnumbered: 0,
            runs: VecDeque::new(),
            most_runs,
            is_told_truth: true,
            last_event: Instant::START,
        }
    }

    /// The fates of a sender whose receiver acknowledges what has not arrived.
    pub(super) fn told_lies(self) -> Self {
        Fates {
            is_told_truth: false,
            ..self
        }
    }

    fn known(&self, number: u64) -> u8 {
        let known = usize::try_from(number).ok().and_then(|n| self.known.get(n));
        known.copied().unwrap_or(0)
    }

    /// A packet is sent. RFC 9000 section 12.3: its number is larger than those before it.
    pub(super) fn send(&mut self, number: u64) -> Verdict {
        hold(number >= self.known.len() as u64, || {
            format!("sends a packet with number {number} after a larger one")
        })?;
        self.known.resize(number as usize, 0);
        self.known.push(SENT);
        Ok(())
    }

    /// A packet arrives at its receiver, which processes it if it is ready.
    pub(super) fn arrive(&mut self, number: u64, taken: bool) -> Verdict {
        let before = self.known(number);
        hold(before & SENT > 0, || {
            format!("packet {number} arrives and was never sent")
        })?;
        hold(before & ARRIVED == 0, || {
            format!("packet {number} arrives twice")
        })?;
        self.known[number as usize] |= ARRIVED | if taken { TAKEN } else { 0 };
        if taken && number >= self.taken {
            let filled = match self.most_runs {
                Some(_) => std::mem::take(&mut self.unnumbered),
                None => 0,
            };
            if number - self.taken > filled {
                self.gap = Some(number - 1);
                (0..filled).for_each(|_| self.begin_run(number));
                self.begin_run(number);
            } else if self.runs.is_empty() {
                self.begin_run(number);
            }
            self.taken = number + 1;
        }
        hold(!self.in_order || !taken || before & LOST == 0, || {
            format!("declared packet {number} lost, which arrives now")
        })
    }

    /// A packet that is not ack-eliciting arrives at its receiver, which processes it.
    pub(super) fn arrive_without_number(&mut self) {
        self.unnumbered += 1;
    }

    /// A packet starts a run, and the receiver may drop the oldest one.
    fn begin_run(&mut self, number: u64) {
        let Some(most) = self.most_runs else { return };
        self.runs.push_back(number);
        if self.runs.len() > most {
            self.runs.pop_front();
        }
    }

    /// Whether the receiver may have dropped the run of the packet.
    fn may_be_forgotten(&self, number: u64) -> bool {
        let Some(most) = self.most_runs else {
            return false;
        };
        let forgotten = (self.runs.len() + self.unnumbered as usize).saturating_sub(most);
        let oldest = self.runs.get(forgotten);
        !self.runs.is_empty() && oldest.is_none_or(|first| number < *first)
    }

    /// This many packets towards the sender were dropped or lost.
    pub(super) fn missing_on_the_way_back(&mut self, packets: u64) {
        self.acks_missing |= self.most_runs.is_none() && packets >= ACK_REPEATS as u64;
    }

    /// The sender has recorded fates of packets, by `now`.
    pub(super) fn note(&mut self, now: Instant, event: &PacketEvent) -> Verdict {
        hold(event.time <= now && event.time >= self.last_event, || {
            let last = self.last_event;
            format!(
                "notes at {now} what happened at {}, after {last}",
                event.time
            )
        })?;
        self.last_event = event.time;
        (event.first..=event.last).try_for_each(|number| self.note_one(number, event.fate))
    }

    fn note_one(&mut self, number: u64, fate: PacketFate) -> Verdict {
        let before = self.known(number);
        hold(before & SENT > 0, || {
            format!("knows the fate of packet {number}, which was never sent")
        })?;
        match fate {
            PacketFate::Sent => Ok(()),
            PacketFate::Acknowledged => hold(before & ARRIVED > 0 || !self.is_told_truth, || {
                format!("counts packet {number} as acknowledged, which has not arrived")
            }),
            PacketFate::Lost => {
                self.known[number as usize] |= LOST;
                let before_gap = self.gap.is_some_and(|gap| number < gap);
                let untold = self.acks_missing && before_gap || self.may_be_forgotten(number);
                let told = self.in_order && !untold;
                hold(!told || before & TAKEN == 0, || {
                    format!("declares packet {number} lost, which has arrived")
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(n: u64) -> Instant {
        Instant::from_nanos(n)
    }

    fn event(time: u64, fate: PacketFate, number: u64) -> PacketEvent {
        PacketEvent {
            time: at(time),
            fate,
            first: number,
            last: number,
            size: 1200,
        }
    }

    /// Packets 0 and 2 have been sent; the second has arrived.
    fn fates(in_order: bool) -> Fates {
        let mut fates = Fates::new(in_order, true, None);
        fates.send(0).unwrap();
        fates.send(2).unwrap();
        fates.arrive(2, true).unwrap();
        fates
    }

    #[test]
    fn a_right_course_passes() {
        let mut fates = fates(true);
        fates
            .note(at(9), &event(5, PacketFate::Acknowledged, 2))
            .unwrap();
        fates.note(at(9), &event(5, PacketFate::Lost, 0)).unwrap();
    }

    #[test]
    fn a_number_that_does_not_grow_is_found() {
        assert!(fates(true).send(2).unwrap_err().contains("after a larger"));
        assert!(fates(true).send(1).is_err());
    }

    #[test]
    fn a_packet_that_arrives_twice_or_from_nowhere_is_found() {
        assert!(fates(true).arrive(2, true).unwrap_err().contains("twice"));
        for number in [1, 3] {
            let found = fates(true).arrive(number, true).unwrap_err();
            assert!(found.contains("never sent"), "{found}");
        }
    }

    #[test]
    fn an_acknowledgement_of_what_has_not_arrived_is_found() {
        let found = fates(true).note(at(9), &event(5, PacketFate::Acknowledged, 0));
        assert!(found.unwrap_err().contains("has not arrived"));
        let found = fates(true).note(at(9), &event(5, PacketFate::Acknowledged, 7));
        assert!(found.unwrap_err().contains("never sent"));
    }

    #[test]
    fn a_loss_of_what_arrives_is_found_before_and_after_where_nothing_reorders() {
        let lost = |number| event(5, PacketFate::Lost, number);
        assert!(
            fates(true)
                .note(at(9), &lost(2))
                .unwrap_err()
                .contains("has arrived")
        );
        assert_eq!(fates(false).note(at(9), &lost(2)), Ok(()));
        // Only eight missing ACK frames excuse it, and only before a gap: packets 3 and 4 arrive, and 5 does not.
        let missing = |packets, number| {
            let mut fates = fates(true);
            for number in 3..7 {
                fates.send(number).unwrap();
            }
            for number in [3, 4, 6] {
                fates.arrive(number, true).unwrap();
            }
            fates.missing_on_the_way_back(packets);
            fates.note(at(9), &lost(number))
        };
        assert!(missing(7, 4).is_err() && missing(8, 4).is_ok());
        assert!(missing(8, 6).is_err());
        // Where ACK frames may overtake others, eight that are late excuse it too.
        let overtaken = |number| {
            let mut fates = Fates::new(true, false, None);
            for number in [0, 1, 3] {
                fates.send(number).unwrap();
            }
            for number in [0, 3] {
                fates.arrive(number, true).unwrap();
            }
            fates.note(at(9), &lost(number))
        };
        assert!(overtaken(0).is_ok() && overtaken(3).is_err());
        // The real stack tells of all that it remembers, whatever was missing.
        let told_again = |packets| {
            let mut fates = Fates::new(true, true, Some(2));
            for number in [1, 3] {
                fates.send(number).unwrap();
                fates.arrive(number, true).unwrap();
            }
            fates.missing_on_the_way_back(packets);
            fates.note(at(9), &lost(1))
        };
        assert!(told_again(100).unwrap_err().contains("has arrived"));
        // A receiver that remembers two runs knows of packet 3 when packet 5 has come, and forgets it with packet 7.
        let remembers_two = |last: u64| {
            let mut fates = Fates::new(true, true, Some(2));
            for number in (1..=last).step_by(2) {
                fates.send(number).unwrap();
                fates.arrive(number, true).unwrap();
            }
            fates.note(at(9), &lost(3))
        };
        assert!(remembers_two(5).is_err() && remembers_two(7).is_ok());
        // One without a gap begins no run: the numbers between belonged to packets that elicit no acknowledgement.
        let fills = |unnumbered| {
            let mut fates = Fates::new(true, true, Some(3));
            for number in [1, 4, 7] {
                (0..unnumbered).for_each(|_| fates.arrive_without_number());
                fates.send(number).unwrap();
                fates.arrive(number, true).unwrap();
            }
            fates.note(at(9), &lost(1))
        };
        assert!(fills(2).is_err());
        // Of two numbers between, one that arrived is a separate run: 1, 2 or 3, 4, 5 or 6, and 7.
        assert!(fills(1).is_ok() && fills(0).is_err());
        let waits = |unnumbered| {
            let mut fates = fates(true);
            fates.most_runs = Some(3);
            fates.begin_run(2);
            (0..unnumbered).for_each(|_| fates.arrive_without_number());
            fates.note(at(9), &lost(2))
        };
        assert!(waits(2).is_err() && waits(3).is_ok());
        let late = |in_order, taken| {
            let mut fates = fates(in_order);
            fates.note(at(9), &lost(0)).unwrap();
            fates.arrive(0, taken)
        };
        assert!(late(true, true).unwrap_err().contains("arrives now"));
        assert_eq!(late(false, true), Ok(()));
        // A receiver without keys drops it.
        assert_eq!(late(true, false), Ok(()));
    }

    #[test]
    fn an_event_of_the_future_and_one_out_of_order_are_found() {
        assert!(
            fates(true)
                .note(at(4), &event(5, PacketFate::Lost, 0))
                .is_err()
        );
        let mut fates = fates(true);
        fates.note(at(9), &event(5, PacketFate::Lost, 0)).unwrap();
        assert!(
            fates
                .note(at(9), &event(4, PacketFate::Acknowledged, 2))
                .is_err()
        );
    }
}
