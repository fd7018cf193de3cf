//! Loss on the medium: packets that were transmitted and never arrive.
//!
//! A lost packet has used its transmission time. Loss is independent of size, ECN and flow. What counts packets counts
//! those that are transmitted while the process is in force, from 1 on.

mod fading;
mod script;

use crate::random::{self, BlockSeeds, Chance, stream};
use fading::Fading;
use rand_pcg::Pcg64Mcg;
pub use script::LossScript;
use script::Reader;
use thalweg_units::{Duration, Fraction, Instant};

/// Loss after transmission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LossConfig {
    /// None.
    #[default]
    None,
    /// Each packet independently with the same probability.
    Random {
        /// Probability of loss.
        rate: Fraction,
    },
    /// Loss in bursts: a Markov chain with a good and a bad state, one step per packet (Gilbert 1960,
    /// Elliott 1963; the names follow Hasslinger and Hohlfeld 2008). The mean sojourn in the bad state
    /// is 1/r packets. Gilbert's simple model has `good_loss` 0 and `bad_loss` 1. If neither transition
    /// is possible (p = r = 0) the chain stays in the good state.
    GilbertElliott {
        /// Probability of the step from good to bad.
        p: Fraction,
        /// Probability of the step from bad to good.
        r: Fraction,
        /// Probability of loss in the good state (1 - k in the cited notation).
        good_loss: Fraction,
        /// Probability of loss in the bad state (1 - h in the cited notation).
        bad_loss: Fraction,
    },
    /// Loss in bursts that last for a time, however many packets are sent in it: the same chain in continuous time, whose
    /// sojourns are exponential. The state is that at the last bit of a packet.
    Fading {
        /// Mean sojourn in the good state; zero for none.
        good: Duration,
        /// Mean sojourn in the bad state; zero for none.
        bad: Duration,
        /// Probability of loss in the good state.
        good_loss: Fraction,
        /// Probability of loss in the bad state.
        bad_loss: Fraction,
    },
    /// One packet of so many.
    Periodic {
        /// Packets with these numbers are lost: `every`, twice `every`, ... None if it is zero.
        every: u64,
    },
    /// Given packets.
    Scripted(LossScript),
}

impl LossConfig {
    /// Whether every packet is lost, always.
    pub fn is_certain(&self) -> bool {
        match *self {
            LossConfig::None => false,
            LossConfig::Random { rate } => rate == Fraction::ONE,
            LossConfig::GilbertElliott {
                p,
                r,
                good_loss,
                bad_loss,
            } => {
                let (good, bad) = (good_loss == Fraction::ONE, bad_loss == Fraction::ONE);
                // Without a way to the bad state the chain is good; without one back it starts, and stays, bad.
                match (p == Fraction::ZERO, r == Fraction::ZERO) {
                    (true, _) => good,
                    (false, true) => bad,
                    (false, false) => good && bad,
                }
            }
            LossConfig::Fading { .. } => self.is_fading_always(Fraction::ONE),
            LossConfig::Periodic { every } => every == 1,
            LossConfig::Scripted(_) => false,
        }
    }

    /// Whether no packet is ever lost.
    pub fn is_impossible(&self) -> bool {
        match *self {
            LossConfig::None => true,
            LossConfig::Random { rate } => rate == Fraction::ZERO,
            LossConfig::GilbertElliott {
                p,
                r,
                good_loss,
                bad_loss,
            } => {
                let (good, bad) = (good_loss == Fraction::ZERO, bad_loss == Fraction::ZERO);
                match (p == Fraction::ZERO, r == Fraction::ZERO) {
                    (true, _) => good,
                    (false, true) => bad,
                    (false, false) => good && bad,
                }
            }
            LossConfig::Fading { .. } => self.is_fading_always(Fraction::ZERO),
            LossConfig::Periodic { every } => every == 0,
            LossConfig::Scripted(ref script) => script.is_empty(),
        }
    }

    /// Whether each state of a fading channel that it is ever in has this probability of loss.
    fn is_fading_always(&self, loss: Fraction) -> bool {
        let LossConfig::Fading {
            good,
            bad,
            good_loss,
            bad_loss,
        } = *self
        else {
            return false;
        };
        let is_ever_good = bad.is_zero() || !good.is_zero();
        (!is_ever_good || good_loss == loss) && (bad.is_zero() || bad_loss == loss)
    }

    /// Whether the packet with this number is lost; `None` if chance or time decides.
    pub fn takes(&self, number: u64) -> Option<bool> {
        match *self {
            LossConfig::None => Some(false),
            LossConfig::Periodic { every } => Some(every > 0 && number.is_multiple_of(every)),
            LossConfig::Scripted(ref script) => Some(script.has(number)),
            _ => None,
        }
    }

    /// The share of packets that is lost in the long run.
    pub fn mean_rate(&self) -> Fraction {
        match *self {
            LossConfig::None => Fraction::ZERO,
            LossConfig::Random { rate } => rate,
            LossConfig::GilbertElliott {
                p,
                r,
                good_loss,
                bad_loss,
            } => {
                let (p, r) = (p.as_f64(), r.as_f64());
                if p == 0.0 {
                    return good_loss;
                }
                // Stationary probabilities: bad p / (p + r), good r / (p + r).
                Fraction::from_f64((p * bad_loss.as_f64() + r * good_loss.as_f64()) / (p + r))
            }
            LossConfig::Fading {
                good,
                bad,
                good_loss,
                bad_loss,
            } => {
                if bad.is_zero() {
                    return good_loss;
                }
                let (good, bad) = (good.as_secs_f64(), bad.as_secs_f64());
                let lost = bad * bad_loss.as_f64() + good * good_loss.as_f64();
                Fraction::from_f64(lost / (bad + good))
            }
            LossConfig::Periodic { every: 0 } | LossConfig::Scripted(_) => Fraction::ZERO,
            LossConfig::Periodic { every } => Fraction::from_f64(1.0 / every as f64),
        }
    }
}

/// The loss processes of a link: one for the start, and one for each change to another model.
#[derive(Debug)]
pub(crate) struct Losses {
    /// Apart, since most links have no other.
    first: Loss,
    later: Vec<Loss>,
}

impl Losses {
    pub(crate) fn new<'a>(mut configs: impl Iterator<Item = &'a LossConfig>, seed: u64) -> Self {
        let first = configs.next().unwrap_or(&LossConfig::None);
        let streams = (1..).map(|index| random::at(random::key(seed, "loss"), index));
        Losses {
            first: Loss::new(first, stream(seed, "loss")),
            later: (configs.zip(streams))
                .map(|(config, rng)| Loss::new(config, rng))
                .collect(),
        }
    }

    /// Draws from the streams of another seed from now on.
    pub(crate) fn reseed(&mut self, seed: u64) {
        self.first.rng = stream(seed, "loss");
        for (index, loss) in (1..).zip(&mut self.later) {
            loss.rng = random::at(random::key(seed, "loss"), index);
        }
    }

    /// Follows a tape with what is a function of the time.
    pub(crate) fn follow(&mut self, blocks: &BlockSeeds) {
        for loss in self.later.iter_mut().chain([&mut self.first]) {
            if let Process::Fading(fading) = &mut loss.process {
                fading.follow(blocks);
            }
        }
    }

    /// Whether the next packet, whose last bit leaves at `at`, is lost while process `index` is in force.
    #[inline]
    pub(crate) fn strike(&mut self, index: u32, at: Instant) -> bool {
        match index {
            0 => self.first.strikes(at),
            later => self.later[later as usize - 1].strikes(at),
        }
    }
}

/// The running loss process.
#[derive(Debug)]
struct Loss {
    process: Process,
    rng: Pcg64Mcg,
}

#[derive(Debug)]
enum Process {
    None,
    Random(Chance),
    GilbertElliott {
        bad: bool,
        to_bad: Chance,
        to_good: Chance,
        good_loss: Chance,
        bad_loss: Chance,
    },
    Fading(Box<Fading>),
    Periodic {
        every: u64,
        /// Packets until the next one that is lost.
        left: u64,
    },
    Scripted(Reader),
}

impl Loss {
    fn new(config: &LossConfig, mut rng: Pcg64Mcg) -> Self {
        let process = match *config {
            LossConfig::None => Process::None,
            LossConfig::Random { rate } => Process::Random(rate.into()),
            LossConfig::GilbertElliott {
                p,
                r,
                good_loss,
                bad_loss,
            } => {
                // The first state is drawn from the stationary distribution: short flows see the same
                // mean rate as long ones.
                let (p_f, r_f) = (p.as_f64(), r.as_f64());
                let stationary = if p_f == 0.0 { 0.0 } else { p_f / (p_f + r_f) };
                Process::GilbertElliott {
                    bad: Chance::from(Fraction::from_f64(stationary)).happens(&mut rng),
                    to_bad: p.into(),
                    to_good: r.into(),
                    good_loss: good_loss.into(),
                    bad_loss: bad_loss.into(),
                }
            }
            LossConfig::Fading {
                good,
                bad,
                good_loss,
                bad_loss,
            } => Process::Fading(Box::new(Fading::new(
                [good, bad],
                [good_loss.into(), bad_loss.into()],
                &mut rng,
            ))),
            LossConfig::Periodic { every: 0 } => Process::None,
            LossConfig::Periodic { every } => Process::Periodic { every, left: every },
            LossConfig::Scripted(ref script) => Process::Scripted(Reader::new(script)),
        };
        Loss { process, rng }
    }

    /// Whether the next packet, whose last bit leaves at `at`, is lost.
    #[inline]
    fn strikes(&mut self, at: Instant) -> bool {
        match &mut self.process {
            Process::None => false,
            Process::Random(chance) => chance.happens(&mut self.rng),
            Process::GilbertElliott {
                bad,
                to_bad,
                to_good,
                good_loss,
                bad_loss,
            } => {
                let (loss, flip) = if *bad {
                    (bad_loss, to_good)
                } else {
                    (good_loss, to_bad)
                };
                let lost = loss.happens(&mut self.rng);
                *bad ^= flip.happens(&mut self.rng);
                lost
            }
            Process::Fading(fading) => fading.strikes(at, &mut self.rng),
            Process::Periodic { every, left } => {
                *left -= 1;
                let lost = *left == 0;
                if lost {
                    *left = *every;
                }
                lost
            }
            Process::Scripted(reader) => reader.strikes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fraction(text: &str) -> Fraction {
        text.parse().unwrap()
    }

    /// Lost packets and runs of consecutive losses among `n`, one every millisecond.
    fn losses_and_runs(config: &LossConfig, n: usize) -> (usize, usize) {
        let mut loss = Loss::new(config, stream(3, "loss"));
        let (mut lost, mut runs, mut before) = (0, 0, false);
        for number in 1..=n as u64 {
            let now = loss.strikes(Instant::from_nanos(number * 1_000_000));
            lost += usize::from(now);
            runs += usize::from(now && !before);
            before = now;
        }
        (lost, runs)
    }

    #[test]
    fn random_loss_has_its_rate_and_no_memory() {
        let config = LossConfig::Random {
            rate: fraction("2 %"),
        };
        let (lost, runs) = losses_and_runs(&config, 1_000_000);
        // 20 000 expected, standard deviation sqrt(1e6 * 0.02 * 0.98) = 140.
        assert!((19_400..=20_600).contains(&lost), "{lost}");
        // Independent losses: a run has a mean length of 1 / 0.98 = 1.02.
        let length = lost as f64 / runs as f64;
        assert!((1.01..=1.03).contains(&length), "{length}");
    }

    #[test]
    fn gilbert_elliott_loss_has_its_mean_rate_and_its_burst_length() {
        // Gilbert's simple model: bursts of 1/r = 5 packets, rate p / (p + r) = 0.002 / 0.202 = 0.99 %.
        let config = LossConfig::GilbertElliott {
            p: fraction("0.2 %"),
            r: fraction("20 %"),
            good_loss: Fraction::ZERO,
            bad_loss: Fraction::ONE,
        };
        assert_eq!((config.mean_rate().as_f64() * 1e6).round(), 9901.0);
        let (lost, runs) = losses_and_runs(&config, 2_000_000);
        // 19 802 expected in about 3960 bursts; the standard deviation of the rate is about 2.4 %.
        assert!((18_300..=21_300).contains(&lost), "{lost}");
        let length = lost as f64 / runs as f64;
        assert!((4.75..=5.25).contains(&length), "{length}");
    }

    #[test]
    fn a_chain_without_transitions_stays_good() {
        let stuck = LossConfig::GilbertElliott {
            p: Fraction::ZERO,
            r: Fraction::ZERO,
            good_loss: fraction("10 %"),
            bad_loss: Fraction::ONE,
        };
        let (lost, _) = losses_and_runs(&stuck, 100_000);
        assert!((9_600..=10_400).contains(&lost), "{lost}");
        assert_eq!(stuck.mean_rate(), fraction("10 %"));
    }

    #[test]
    fn certain_and_impossible_loss_are_what_happens() {
        let share = |bad: bool| if bad { Fraction::ONE } else { Fraction::ZERO };
        for case in 0..16 {
            let bit = |position: u32| case >> position & 1 == 1;
            let config = LossConfig::GilbertElliott {
                p: share(bit(0)),
                r: share(bit(1)),
                good_loss: share(bit(2)),
                bad_loss: share(bit(3)),
            };
            let span = |bad: bool| Duration::from_micros(if bad { 700 } else { 0 });
            let fading = LossConfig::Fading {
                good: span(bit(0)),
                bad: span(bit(1)),
                good_loss: share(bit(2)),
                bad_loss: share(bit(3)),
            };
            for config in [config, fading] {
                let (lost, _) = losses_and_runs(&config, 100);
                assert_eq!(config.is_certain(), lost == 100, "{config:?}");
                assert_eq!(config.is_impossible(), lost == 0, "{config:?}");
            }
        }
    }

    #[test]
    fn every_nth_packet_is_lost_and_none_of_none() {
        for every in [0, 1, 2, 7, 100] {
            let config = LossConfig::Periodic { every };
            let mut loss = Loss::new(&config, stream(3, "loss"));
            for number in 1..=1000 {
                let lost = loss.strikes(Instant::START);
                assert_eq!(lost, every > 0 && number % every == 0, "{every}");
                assert_eq!(config.takes(number), Some(lost));
            }
            assert_eq!(config.is_certain(), every == 1);
            assert_eq!(config.is_impossible(), every == 0);
        }
        // RFC 9438 section 5.1, table 2: a loss in 1000 packets is a rate of 0.1 %.
        let mean = LossConfig::Periodic { every: 1000 }.mean_rate();
        assert_eq!(mean, fraction("0.1 %"));
    }

    #[test]
    fn the_mean_of_loss_in_time_is_the_share_of_the_time() {
        let fading = LossConfig::Fading {
            good: Duration::from_millis(900),
            bad: Duration::from_millis(100),
            good_loss: fraction("1 %"),
            bad_loss: fraction("50 %"),
        };
        // 0.9 * 1 % + 0.1 * 50 % = 5.9 %.
        assert_eq!((fading.mean_rate().as_f64() * 1e6).round(), 59_000.0);
        let (lost, _) = losses_and_runs(&fading, 1_000_000);
        // 1000 s in about 1000 cycles: the share of the bad state has a deviation of 4.5 %.
        assert!((52_000..66_000).contains(&lost), "{lost}");
    }
}
