//! The range of rates of a real-time controller, and the decision that a rate becomes.

use crate::{Control, Init, OptionDoc, OptionKind, Options};
use thalweg_units::{Bytes, Duration, Rate};

/// Pacing over the rate of media, so that a frame leaves within two thirds of the time to the next one:
/// PACKET_PACING_HEADROOM of SCReAMv2 (SCReAMv2 draft, "Constants"). NADA sends faster than it encodes by a tenth of
/// the rate for each frame that waits (RFC 8698 section 5.2.2), so this is what it does with five.
const PACING_HEADROOM: f64 = 1.5;
/// How late a wake-up may be without loss of rate.
const LATENESS: Duration = Duration::from_millis(1);

/// The word for the limits of the encoders of the sender.
const ENCODER: &str = "encoder";
/// Without one: RFC 8867 section 5.1 has media from 150 kbps to 1.5 Mbps that start with 150 kbps, and so has RFC 8698
/// section 4.2 its RMIN and RMAX.
const MIN: Rate = Rate::from_bits_per_sec(150_000);
const MAX: Rate = Rate::from_bits_per_sec(1_500_000);

/// The options of the range.
pub(crate) const MIN_RATE: OptionDoc = OptionDoc {
    name: "min_rate",
    kind: OptionKind::RateOr(ENCODER),
    default: ENCODER,
    meaning: "the least rate, whatever the path does: of the encoder, and 150 kbps without one",
};
/// The largest.
pub(crate) const MAX_RATE: OptionDoc = OptionDoc {
    name: "max_rate",
    kind: OptionKind::RateOr(ENCODER),
    default: ENCODER,
    meaning: "the largest rate: what the encoder can use, and 1.5 Mbps without one",
};

/// The range, and where it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    pub(crate) min: Rate,
    pub(crate) max: Rate,
    pub(crate) start: Rate,
    /// What is sent besides, which the headroom of pacing has to carry.
    pub(crate) besides: Rate,
}

impl Rates {
    /// As the options say, or the encoders; a largest rate below the least one is the least one.
    pub(crate) fn read(options: &Options, init: &Init) -> Rates {
        let media = init.media;
        let min = (options.rate_or("min_rate")).or(media.map(|media| media.least));
        let max = (options.rate_or("max_rate")).or(media.map(|media| media.most));
        let min = min.unwrap_or(MIN);
        let max = max.unwrap_or(MAX).max(min);
        let start = media.map_or(min, |media| media.start).clamp(min, max);
        Rates {
            min,
            max,
            start,
            besides: media.map_or(Rate::ZERO, |media| media.besides),
        }
    }

    /// The nearest number of bits per second in the range.
    pub(crate) fn limit(&self, bits_per_second: f64) -> f64 {
        let (min, max) = (self.min.as_bits_per_sec(), self.max.as_bits_per_sec());
        bits_per_second.clamp(min as f64, max as f64)
    }

    /// The same as a rate.
    pub(crate) fn clamp(&self, bits_per_second: f64) -> Rate {
        Rate::from_bits_per_sec(bits_per_second as u64).clamp(self.min, self.max)
    }
}

/// Packets that any window lets in flight: the two of RFC 9002 section 7.2, twice, so that an ACK is never waited for.
const MIN_PACKETS: u64 = 4;

impl Rates {
    /// What a controller of a rate decides: to pace with some headroom over the rate of media, and to have no more in
    /// flight than `span` of it. Neither NADA nor GCC has a window; this one stops a sender whose feedback does not come.
    pub(crate) fn decide(&self, media: Rate, span: Duration, mtu: Bytes) -> Control {
        Control {
            window: self.pacing(media).bytes_in(span).max(mtu * MIN_PACKETS),
            ..self.paced(media, mtu)
        }
    }

    /// Pacing for media of a rate; the window comes from the caller.
    pub(crate) fn paced(&self, media: Rate, mtu: Bytes) -> Control {
        let pacing = self.pacing(media).max(Rate::from_bits_per_sec(1));
        Control {
            window: Bytes::ZERO,
            pacing: Some(pacing),
            quantum: pacing.bytes_in(LATENESS).max(mtu * 2),
            startup_done: true,
        }
    }

    /// Frames of fixed sizes, and the headers of small ones, may be more than the headroom.
    fn pacing(&self, media: Rate) -> Rate {
        media.scale(PACING_HEADROOM).max(media + self.besides)
    }
}
