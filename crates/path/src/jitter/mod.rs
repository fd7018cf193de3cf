//! Jitter: extra delay of each packet after transmission. It uses no capacity and is never negative.
//!
//! Draws are independent, except the draws of a trace, of bursts, and of `wifi` in time. On an in-order link packets experience
//! the running maximum of their arrivals, which grows with the packet rate: see the statistics of the link.

mod bursts;
mod normal;
mod nr_bpdv;
#[cfg(test)]
mod tests;
mod trace;
mod wifi;

use crate::random::{BlockSeeds, Chance, TimedKey, at as in_interval};
use normal::{Normal, Truncated};
use nr_bpdv::Clipped;
use rand_pcg::Pcg64Mcg;
use std::sync::Arc;
use thalweg_random::below;
use thalweg_units::{Duration, Fraction, Instant};
pub use trace::{JitterTrace, JitterTraceError};
use wifi::Wifi;
pub use wifi::WifiFormula;

/// A distribution of jitter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum JitterConfig {
    /// None.
    #[default]
    None,
    /// Uniform from `min` to just below `max`; always `min` if `max` is not above it.
    Uniform {
        /// Least delay.
        min: Duration,
        /// Upper bound.
        max: Duration,
    },
    /// Normal; negative values are replaced by zero. See [`JitterConfig::reference_normal`].
    Normal {
        /// Mean, before values are replaced.
        mean: Duration,
        /// Standard deviation, before values are replaced.
        sd: Duration,
    },
    /// Normal, redrawn until the value is between `min` and `max`. Always the bound nearest to
    /// the mean if less than one value in a thousand is.
    TruncatedNormal {
        /// Mean of the distribution that is truncated.
        mean: Duration,
        /// Standard deviation of the distribution that is truncated.
        sd: Duration,
        /// Least delay.
        min: Duration,
        /// Largest delay.
        max: Duration,
    },
    /// The two components of bad Wi-Fi: collisions of a few milliseconds on every packet, retransmissions
    /// around 90 ms on some. Only the *number* of the latter follows the mean.
    Wifi {
        /// Requested mean. Zero means no jitter; up to 1 ms there is only the short component, whose mean
        /// is 0.684 ms.
        mean: Duration,
        /// Which of the two published formulas.
        formula: WifiFormula,
        /// One draw for all packets whose last bit leaves within the same multiple of this time, in the place of one for each.
        every: Option<Duration>,
    },
    /// The two components of bad Wi-Fi with explicit scales, as fitted to a measured trace.
    TwoComponents {
        /// Share of the packets that also have a long delay.
        fraction: Fraction,
        /// Step of the short component: its mean is 0.684 steps.
        short: Duration,
        /// Step of the long component: its mean is 11.5 steps.
        long: Duration,
    },
    /// A measured series of delays over time.
    Trace(Arc<JitterTrace>),
    /// Every packet waits for the next multiple of an interval: aggregation.
    Bursts {
        /// The interval between releases.
        every: Duration,
    },
    /// The absolute value of a normal number, clipped; packets stay apart by the time that they take at the capacity:
    /// NR-BPDV of RFC 8868 section 4.5.
    NrBpdv {
        /// Standard deviation of the normal number.
        sd: Duration,
        /// Where it is clipped, in thousandths of the standard deviation.
        clip: u32,
    },
    /// Some packets are held until so many others have passed, on a busy link and if these have the same size: the reordering
    /// extent of RFC 4737 section 4.2. It needs a link that reorders.
    Reordering {
        /// Probability that a packet is held.
        share: Fraction,
        /// Number of packets that pass it.
        extent: u32,
    },
}

impl JitterConfig {
    /// The normal jitter of picoquic's simulator: deviation a third of the mean, so that the lower
    /// bound of three deviations is zero. The reference adds up twelve uniform numbers instead of drawing
    /// from the exact distribution; the first two moments are the same.
    pub fn reference_normal(mean: Duration) -> Self {
        JitterConfig::Normal { mean, sd: mean / 3 }
    }

    /// The requested mean.
    pub fn requested_mean(&self) -> Duration {
        match *self {
            JitterConfig::None => Duration::ZERO,
            JitterConfig::Uniform { min, max } => min + (max - min) / 2,
            JitterConfig::Normal { mean, .. }
            | JitterConfig::TruncatedNormal { mean, .. }
            | JitterConfig::Wifi { mean, .. } => mean,
            JitterConfig::TwoComponents { .. }
            | JitterConfig::Trace(_)
            | JitterConfig::Bursts { .. }
            | JitterConfig::NrBpdv { .. }
            | JitterConfig::Reordering { .. } => self.expected_mean(),
        }
    }

    /// The computed mean of independent draws.
    pub fn expected_mean(&self) -> Duration {
        match *self {
            JitterConfig::None => Duration::ZERO,
            JitterConfig::Uniform { min, max } => min + (max - min) / 2,
            JitterConfig::Normal { mean, sd } => normal::rectified_mean(mean, sd),
            JitterConfig::TruncatedNormal { mean, sd, min, max } => {
                normal::truncated_mean(mean, sd, min, max)
            }
            JitterConfig::Wifi { mean, formula, .. } => wifi::expected_mean(mean, formula),
            JitterConfig::TwoComponents {
                fraction,
                short,
                long,
            } => wifi::mean_of_components(fraction.as_f64(), short, long, WifiFormula::Reference),
            JitterConfig::Trace(ref trace) => trace.mean(),
            JitterConfig::Bursts { every } => every / 2,
            JitterConfig::NrBpdv { sd, clip } => clipped(sd, clip).mean(),
            // It depends on the capacity and the packets.
            JitterConfig::Reordering { .. } => Duration::ZERO,
        }
    }
}

fn clipped(sd: Duration, clip: u32) -> Clipped {
    Clipped {
        sd,
        clip: f64::from(clip) / 1000.0,
    }
}

/// A distribution, ready for draws.
#[derive(Debug)]
pub(crate) enum Jitter {
    None,
    Uniform {
        min: Duration,
        span: u64,
    },
    Normal(Normal),
    Truncated(Truncated),
    Wifi(Box<Wifi>),
    /// With the length of an interval, and the key of its draws.
    WifiInTime(Box<(Wifi, Duration, TimedKey)>),
    Trace(Arc<JitterTrace>),
    Bursts(Duration),
    NrBpdv(Clipped),
    Reordering {
        chance: Chance,
        extent: u32,
    },
}

impl Jitter {
    /// One for each model of a link with seed `seed`.
    pub(crate) fn all(configs: &[JitterConfig], seed: u64) -> Vec<Self> {
        let models = configs.iter().map(|config| Jitter::new(config, seed));
        models.collect()
    }

    pub(crate) fn new(config: &JitterConfig, seed: u64) -> Self {
        match *config {
            JitterConfig::None => Jitter::None,
            JitterConfig::Wifi { mean, .. } if mean.is_zero() => Jitter::None,
            JitterConfig::Uniform { min, max } => Jitter::Uniform {
                min,
                span: (max - min).as_nanos(),
            },
            JitterConfig::Normal { mean, sd } => Jitter::Normal(Normal { mean, sd }),
            JitterConfig::TruncatedNormal { mean, sd, min, max } => {
                match Truncated::new(mean, sd, min, max) {
                    Some(truncated) => Jitter::Truncated(truncated),
                    None => Jitter::Uniform {
                        min: normal::nearest_bound(mean, min, max),
                        span: 0,
                    },
                }
            }
            JitterConfig::Wifi {
                mean,
                formula,
                every,
            } => {
                let wifi = Wifi::new(mean, formula);
                match every {
                    None => Jitter::Wifi(Box::new(wifi)),
                    Some(every) => {
                        let key = TimedKey::new(seed, "jitter in time");
                        Jitter::WifiInTime(Box::new((wifi, every, key)))
                    }
                }
            }
            JitterConfig::TwoComponents {
                fraction,
                short,
                long,
            } => Jitter::Wifi(Box::new(Wifi::of_components(fraction, short, long))),
            JitterConfig::Trace(ref trace) => Jitter::Trace(Arc::clone(trace)),
            JitterConfig::Bursts { every } => Jitter::Bursts(every),
            JitterConfig::NrBpdv { sd, clip } => Jitter::NrBpdv(clipped(sd, clip)),
            JitterConfig::Reordering { share, extent } => Jitter::Reordering {
                chance: share.into(),
                extent,
            },
        }
    }

    /// Follows a tape, if its draws are a function of the time.
    pub(crate) fn follow(&mut self, blocks: &BlockSeeds) {
        if let Jitter::WifiInTime(timed) = self {
            timed.2.follow(blocks);
        }
    }

    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Jitter::None)
    }

    /// The extra delay of a packet whose last bit leaves at `at`, after a transmission of `busy`.
    pub(crate) fn draw(&self, at: Instant, busy: Duration, rng: &mut Pcg64Mcg) -> Duration {
        match self {
            Jitter::None => Duration::ZERO,
            Jitter::Uniform { min, span } => *min + Duration::from_nanos(below(rng, *span)),
            Jitter::Normal(normal) => normal.draw(rng),
            Jitter::Truncated(truncated) => truncated.draw(rng),
            Jitter::Wifi(wifi) => wifi.draw(rng),
            Jitter::WifiInTime(timed) => {
                let (wifi, every, key) = &**timed;
                let every = every.as_nanos().max(1);
                let interval = (at - Instant::START).as_nanos() / every;
                let begins = Instant::from_nanos(interval * every);
                wifi.draw(&mut in_interval(key.at(begins), interval))
            }
            Jitter::Trace(trace) => trace.delay_at(at),
            Jitter::Bursts(every) => bursts::delay(*every, at),
            Jitter::NrBpdv(clipped) => clipped.draw(rng),
            // Half a packet more, so that it is not level with the last that passes it.
            Jitter::Reordering { chance, extent } if chance.happens(rng) => {
                busy * u64::from(*extent) + busy / 2
            }
            Jitter::Reordering { .. } => Duration::ZERO,
        }
    }

    /// The least time between the arrival of a packet of an in-order link, after a transmission of `busy`, and of the next.
    #[inline]
    pub(crate) fn spacing(&self, busy: Duration) -> Duration {
        match self {
            Jitter::NrBpdv(_) => busy,
            _ => Duration::ZERO,
        }
    }
}
