//! An encoder of video that follows the rate which congestion control allows (RFC 8593 section 5).
//!
//! # Model
//! The rate of the encoder changes at a frame, to the part of what is then allowed that it uses, and not again until
//! its reaction time is over (RFC 8593 section 5.1). It stays between the least and the largest rate (RFC 8593
//! section 5.4). A frame has the size that the rate says, of which it deviates by a Laplace distribution of mean zero
//! (RFC 8593 section 5.3). With key frames, the first frame of a group is larger than the others, and the group has
//! the rate.
//!
//! # Limits
//! The interval of frames does not vary, so that each has a nominal time from which its delay counts. The burst of
//! frames after an abrupt change of the rate (RFC 8593 section 5.2) is not modelled: the RFC does not say when a
//! change is abrupt, and the rate of a congestion controller changes all the time. Resolution and quality are not
//! modelled: any rate of the range gives `per_second` frames.

use crate::scenario::media::{EncoderSpec, MediaSpec};
use crate::trial::seed;
use std::collections::BTreeMap;
use thalweg_control::Rng;
use thalweg_random::open_unit;
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// The state of an encoder.
#[derive(Debug)]
pub(crate) struct Encoder {
    spec: EncoderSpec,
    per_second: f64,
    rate: Rate,
    /// When the rate last changed.
    changed: Option<Instant>,
    rng: Rng,
    /// The number of each frame, the rate of the encoder and what it was allowed, if they are recorded.
    pub(crate) rates: Option<BTreeMap<u32, (Rate, Option<Rate>)>>,
    /// What it did from the start of measurement on.
    pub(crate) measured: Encoded,
}

/// What an encoder did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Encoded {
    pub(crate) frames: u64,
    bytes: u64,
    /// Sums of the rate and of its square over frames, in bits per second.
    sum: f64,
    squares: f64,
}

impl Encoded {
    /// The mean rate, at so many frames a second.
    pub(crate) fn mean_rate(&self, per_second: u32) -> Option<Rate> {
        let span = self.frames * 1_000_000_000 / u64::from(per_second);
        let span = Duration::from_nanos(span);
        (self.frames > 0).then(|| Rate::over(Bytes::new(self.bytes), span))
    }

    /// The standard deviation of the rate over its mean.
    pub(crate) fn oscillation(&self) -> Option<f64> {
        let frames = self.frames as f64;
        let mean = self.sum / frames;
        let variance = (self.squares / frames - mean * mean).max(0.0);
        (self.frames > 0 && mean > 0.0).then(|| libm::sqrt(variance) / mean)
    }
}

impl Encoder {
    /// The encoder of a stream of a flow.
    pub(crate) fn new(spec: &EncoderSpec, trial: u64, flow: &str, stream: &MediaSpec) -> Self {
        Encoder {
            spec: *spec,
            per_second: f64::from(stream.per_second),
            rate: spec.start,
            changed: None,
            rng: draws(trial, flow, &stream.name),
            rates: None,
            measured: Encoded::default(),
        }
    }

    /// Draws from the stream of another seed from now on.
    pub(crate) fn reseed(&mut self, seed: u64, flow: &str, stream: &str) {
        self.rng = draws(seed, flow, stream);
    }

    /// The size of frame number `frame`, given what is allowed, if that is known.
    pub(crate) fn encode(
        &mut self,
        now: Instant,
        frame: u32,
        allowed: Option<Rate>,
        is_measured: bool,
    ) -> u64 {
        let reacts = (self.changed).is_none_or(|changed| now - changed >= self.spec.reaction);
        if let Some(allowed) = allowed.filter(|_| reacts) {
            let used = allowed.scale(self.spec.uses.as_f64());
            let next = used.clamp(self.spec.least, self.spec.most);
            if next != self.rate {
                (self.rate, self.changed) = (next, Some(now));
            }
        }
        if let Some(rates) = &mut self.rates {
            rates.insert(frame, (self.rate, allowed));
        }
        let mean = self.rate.as_bits_per_sec() as f64 / 8.0 / self.per_second;
        let (frames, ratio) = (f64::from(self.spec.group), self.spec.key_frame);
        let other = mean * frames / (frames - 1.0 + ratio);
        let is_key = frame.is_multiple_of(self.spec.group);
        let expected = if is_key { other * ratio } else { other };
        let size = (expected * (1.0 + self.deviation()) + 0.5).max(1.0) as u64;
        if is_measured {
            let rate = self.rate.as_bits_per_sec() as f64;
            self.measured.frames += 1;
            self.measured.bytes += size;
            self.measured.sum += rate;
            self.measured.squares += rate * rate;
        }
        size
    }

    /// A draw of the Laplace distribution: the difference of two of the exponential one.
    fn deviation(&mut self) -> f64 {
        if self.spec.variation == 0.0 {
            return 0.0;
        }
        let mut exponential = || -libm::log(open_unit(&mut self.rng));
        self.spec.variation * (exponential() - exponential())
    }
}

fn draws(trial: u64, flow: &str, stream: &str) -> Rng {
    seed::rng(trial, &format!("flow/{flow}/media/{stream}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::media::standard_call;
    use thalweg_units::Fraction;

    const SPEC: EncoderSpec = EncoderSpec {
        least: Rate::from_bits_per_sec(150_000),
        most: Rate::from_bits_per_sec(1_500_000),
        start: Rate::from_bits_per_sec(150_000),
        uses: Fraction::ONE,
        reaction: Duration::from_millis(100),
        variation: 0.0,
        key_frame: 1.0,
        group: 1,
    };
    /// An encoder of 25 frames a second.
    fn new(spec: &EncoderSpec) -> Encoder {
        let mut stream = standard_call(Duration::from_secs(1), Duration::ZERO)[1].clone();
        stream.per_second = 25;
        Encoder::new(spec, 1, "main", &stream)
    }

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    /// The rate that frames show which follow what is allowed, in kbps, each 40 ms after the one before.
    fn rates(spec: EncoderSpec, allowed: &[Option<u64>]) -> Vec<u64> {
        let mut encoder = new(&spec);
        let frames = allowed.iter().enumerate();
        frames
            .map(|(frame, kbps)| {
                let allowed = kbps.map(|kbps| Rate::from_bits_per_sec(1_000 * kbps));
                let now = at(40 * frame as u64);
                encoder.encode(now, frame as u32, allowed, true) * 8 / 40
            })
            .collect()
    }

    #[test]
    fn the_rate_is_what_is_allowed_within_its_range_and_changes_once_in_a_reaction_time() {
        // Frames of 40 ms: after the change at 40 ms, the next one is at 160 ms.
        let allowed = [None, Some(300), Some(500), Some(500), Some(500), Some(500)];
        assert_eq!(rates(SPEC, &allowed), [150, 300, 300, 300, 500, 500]);
        assert_eq!(rates(SPEC, &[Some(10), Some(10)]), [150, 150]);
        assert_eq!(rates(SPEC, &[Some(9_000)]), [1_500]);
        let uses = Fraction::from_f64(0.8);
        assert_eq!(rates(EncoderSpec { uses, ..SPEC }, &[Some(500)]), [400]);
    }

    #[test]
    fn a_group_with_a_larger_first_frame_has_the_rate() {
        let spec = EncoderSpec {
            key_frame: 5.0,
            group: 10,
            ..SPEC
        };
        let mut encoder = new(&spec);
        let allowed = Some(Rate::from_bits_per_sec(1_000_000));
        let sizes: Vec<u64> = (0..10)
            .map(|n| encoder.encode(at(40 * n), n as u32, allowed, true))
            .collect();
        // 10 frames of 5000 bytes share 9 + 5 parts: 3571.4 bytes, and 17857.1
        assert_eq!((sizes[0], sizes[1]), (17_857, 3_571));
        assert_eq!(sizes.iter().sum::<u64>(), 49_996); // of 50 000, but for rounding
    }

    #[test]
    fn sizes_deviate_as_the_laplace_distribution_of_their_scale_says() {
        let spec = EncoderSpec {
            variation: 0.15,
            start: Rate::from_bits_per_sec(1_000_000),
            ..SPEC
        };
        let mut encoder = new(&spec);
        let count = 20_000;
        let mut draw = || encoder.encode(at(0), 0, None, true) as f64 / 5_000.0;
        let sizes: Vec<f64> = (0..count).map(|_| draw()).collect();
        let mean = sizes.iter().sum::<f64>() / f64::from(count);
        let spread = sizes.iter().map(|size| (size - 1.0).abs()).sum::<f64>() / f64::from(count);
        // Mean and mean deviation of it are 1 and 0.15; of 20 000 draws they are within 0.15 * sqrt(2 / 20 000) =
        // 0.0015 and 0.15 / sqrt(20 000) = 0.0011 with a chance of two thirds, and within four times that nearly
        // always.
        assert!((mean - 1.0).abs() < 0.006, "{mean}");
        assert!((spread - 0.15).abs() < 0.0045, "{spread}");
        assert_eq!(encoder.measured.oscillation(), Some(0.0), "the rate stays");
        let rate = encoder.measured.mean_rate(25).unwrap().as_bits_per_sec() as f64;
        assert!((rate / 1e6 - mean).abs() < 0.001, "{rate}");
    }

    #[test]
    fn the_oscillation_is_the_deviation_of_the_rate_over_its_mean() {
        let spec = EncoderSpec {
            reaction: Duration::ZERO,
            ..SPEC
        };
        let mut encoder = new(&spec);
        for frame in 0..100 {
            let kbps = if frame % 2 == 0 { 800 } else { 1_200 };
            let allowed = Some(Rate::from_bits_per_sec(1_000 * kbps));
            encoder.encode(at(40 * frame), frame as u32, allowed, frame >= 50);
        }
        let measured = encoder.measured;
        assert_eq!(measured.frames, 50);
        assert!((measured.oscillation().unwrap() - 0.2).abs() < 1e-9);
        assert_eq!(
            measured.mean_rate(25),
            Some(Rate::from_bits_per_sec(1_000_000))
        );
    }
}
