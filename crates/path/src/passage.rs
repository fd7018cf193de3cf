//! The passage of each packet through a link, as an optional log: when it came, when it left the queue, and what became of it.
//!
//! A packet that the queue drops stays in its slot until its entry is taken, which is when its number is read: the
//! disciplines know nothing but slots, and packets that nobody logs cost nothing.

use crate::buffer::Queued;
use crate::stats::{DropCause, Transmitted};
use crate::store::Slot;
use thalweg_units::{Bytes, Ecn, Instant};

/// One packet and its way through a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The flow it belonged to.
    pub flow: u64,
    /// Its number, see [`crate::Packet::number`].
    pub number: u64,
    /// Its size on this link.
    pub size: Bytes,
    /// When it was pushed into the link.
    pub entered: Instant,
    /// When the policer or the queue marked it CE here.
    pub marked: Option<Instant>,
    /// When it left the queue: its transmission began, or it was dropped.
    pub left: Instant,
    /// When its last bit was sent; [`Instant::NEVER`] if the capacity stays zero, `None` if it was dropped before.
    pub sent: Option<Instant>,
    /// When propagation alone would have brought it to the other end: from then on jitter held it back, or a packet before
    /// it that it does not overtake. `None` if it never came there.
    pub due: Option<Instant>,
    /// When it arrived at the other end, or why it never did.
    pub end: Result<Instant, DropCause>,
}

impl Passage {
    /// When it was gone from the link.
    pub fn gone(&self) -> Instant {
        self.end.unwrap_or(self.sent.unwrap_or(self.left))
    }
}

/// The log of a link.
#[derive(Debug, Default)]
pub(crate) struct PassageLog {
    settled: Vec<(Option<Slot>, Passage)>,
    /// Packets in the link that were marked here, and when.
    marks: Vec<(Slot, Instant)>,
}

impl PassageLog {
    pub(crate) fn marked(&mut self, slot: Slot, now: Instant) {
        self.marks.push((slot, now));
    }

    /// The end of a transmission is known, and what becomes of its packet.
    pub(crate) fn transmitted(
        &mut self,
        queued: &Queued,
        number: u64,
        sent: &Transmitted,
        due: Option<Instant>,
    ) {
        let passage = Passage {
            number,
            left: sent.from,
            sent: Some(sent.until),
            due,
            end: sent.arrival.ok_or(DropCause::Lost),
            ..self.begun(queued)
        };
        self.settled.push((None, passage));
    }

    /// The policer or the queue dropped a packet. Its slot is vacant only when [`PassageLog::take`] has named it.
    pub(crate) fn dropped(&mut self, queued: &Queued, now: Instant, cause: DropCause) {
        let passage = Passage {
            left: now,
            end: Err(cause),
            ..self.begun(queued)
        };
        self.settled.push((Some(queued.slot), passage));
    }

    /// Empties the log, in the order in which fates were determined; slots are the slots of dropped packets.
    pub(crate) fn take(&mut self) -> Vec<(Option<Slot>, Passage)> {
        std::mem::take(&mut self.settled)
    }

    fn begun(&mut self, queued: &Queued) -> Passage {
        let mark = match queued.ecn {
            Ecn::Ce => (self.marks.iter()).position(|(slot, _)| *slot == queued.slot),
            _ => None,
        };
        Passage {
            flow: queued.flow,
            number: 0,
            size: queued.size,
            entered: queued.arrived,
            marked: mark.map(|position| self.marks.swap_remove(position).1),
            left: queued.arrived,
            sent: None,
            due: None,
            end: Err(DropCause::Lost),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::test_packet::{at, drain, ms, send};
    use crate::{DropCause, Limit, Link, LinkConfig, LossConfig, Passage, PolicerConfig};
    use thalweg_units::{Bytes, Ecn, Fraction, Rate};

    /// 8 Mbps, a packet of 1000 bytes per millisecond, 10 ms of delay, room for 3 packets with the one that is sent.
    fn config() -> LinkConfig {
        let mut config = LinkConfig::new(Rate::from_bits_per_sec(8_000_000), ms(10));
        config.limit = Limit::Packets(3);
        config
    }

    #[test]
    fn each_packet_has_its_times_and_a_dropped_one_its_number_too() {
        let mut link = Link::new(&config(), 1, 1);
        link.record_passages(true);
        send(&mut link, at(0), 0, Ecn::NotEct, 4);
        // Two are still waiting: the fates of the first and the last are known.
        let passage = |number: u64, left: u64| Passage {
            flow: 0,
            number,
            size: Bytes::new(1000),
            entered: at(0),
            marked: None,
            left: at(left),
            sent: Some(at(left + 1)),
            due: Some(at(left + 11)),
            end: Ok(at(left + 11)),
        };
        let dropped = Passage {
            sent: None,
            due: None,
            end: Err(DropCause::Full),
            ..passage(3, 0)
        };
        assert_eq!(link.take_passages(), [passage(0, 0), dropped]);
        drain(&mut link);
        assert_eq!(link.take_passages(), [passage(1, 1), passage(2, 2)]);
        assert_eq!(dropped.gone(), at(0));
        assert_eq!(passage(2, 2).gone(), at(13));
    }

    #[test]
    fn the_slot_of_a_dropped_packet_is_used_again_and_each_drop_keeps_its_number() {
        let mut link = Link::new(&config(), 1, 1);
        link.record_passages(true);
        for _ in 0..5 {
            send(&mut link, at(0), 0, Ecn::NotEct, 4);
        }
        let drops = link.take_passages();
        let numbers = drops.iter().filter(|p| p.end.is_err()).map(|p| p.number);
        assert_eq!(numbers.collect::<Vec<_>>(), (3..20).collect::<Vec<_>>());
    }

    #[test]
    fn a_mark_has_its_time_and_a_packet_that_came_with_one_has_none() {
        let mut config = config();
        config.limit = Limit::Unlimited;
        config.policer = Some(PolicerConfig {
            rate: Rate::from_bits_per_sec(8_000),
            burst: Bytes::new(2000),
            mark: true,
        });
        let mut link = Link::new(&config, 1, 1);
        link.record_passages(true);
        send(&mut link, at(0), 0, Ecn::Ect0, 4);
        send(&mut link, at(1), 0, Ecn::Ce, 1);
        drain(&mut link);
        let marked: Vec<_> = link.take_passages().iter().map(|p| p.marked).collect();
        // Two packets find tokens.
        assert_eq!(marked, [None, None, Some(at(0)), Some(at(0)), None]);
        assert_eq!(link.stats().marked.packets, 2);
    }

    #[test]
    fn a_lost_packet_was_sent_and_never_arrived() {
        let mut config = config();
        config.loss = LossConfig::Random {
            rate: Fraction::ONE,
        };
        let mut link = Link::new(&config, 1, 1);
        link.record_passages(true);
        send(&mut link, at(0), 0, Ecn::NotEct, 1);
        let [lost] = link.take_passages()[..] else {
            panic!("one packet")
        };
        assert_eq!((lost.sent, lost.end), (Some(at(1)), Err(DropCause::Lost)));
        assert_eq!(lost.gone(), at(1));
    }
}
