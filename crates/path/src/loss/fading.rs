//! Loss in bursts that last for a time: a chain with a good and a bad state in continuous time (Gilbert 1960, Elliott 1963,
//! per packet there), as the outages of a radio link are, which do not wait for packets.
//!
//! # Model
//! Sojourns are exponential. Their draws are a function of the seed and the time, apart from the draws of losses, so that all
//! that is sent meets the same bad times. A packet meets the state at its last bit: the state just before the end of its
//! transmission, as all settings of a link.
//!
//! Time is cut into epochs of 65 536 mean cycles, each of which begins with a state from the stationary distribution: no call has
//! more of them to catch up with than one epoch has, however long the link was idle, or slow.
//!
//! With a tape, an epoch is a block: the state goes on, and what is left of its sojourn is drawn again, which leaves the
//! process as it is, since exponential times have no memory. Of a thousand mean cycles or more in a block, the state at its
//! start is from the stationary distribution.
//!
//! # Limits
//! The sojourn at the end of an epoch is cut. One that begins and ends within the transmission of one packet does not touch it.

use crate::random::{self, BLOCK, BlockSeeds, Chance};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use thalweg_random::open_unit;
use thalweg_units::{Duration, Instant};

/// Mean cycles of an epoch.
const CYCLES: u64 = 1 << 16;
/// Mean cycles after which a state says nothing of the present.
const CYCLES_FORGOTTEN: u64 = 1000;

#[derive(Debug)]
pub(super) struct Fading {
    /// Mean sojourns in the good and in the bad state.
    means: [Duration; 2],
    /// Probabilities of loss in them.
    losses: [Chance; 2],
    key: u64,
    /// The number of the epoch, and the draws of its sojourns.
    epoch: u64,
    rng: Pcg64Mcg,
    is_bad: bool,
    /// When the sojourn ends.
    until: Instant,
    /// With a tape, the seed of the link in each block; the epoch is a block then.
    blocks: Option<BlockSeeds>,
}

impl Fading {
    /// From the start of a trial on. `rng` is the stream of the losses.
    pub(super) fn new(means: [Duration; 2], losses: [Chance; 2], rng: &mut Pcg64Mcg) -> Self {
        let key = rng.next_u64();
        let mut fading = Fading {
            means,
            losses,
            key,
            epoch: 0,
            rng: random::at(key, 0),
            is_bad: false,
            until: Instant::START,
            blocks: None,
        };
        fading.begin(0);
        fading
    }

    /// Follows a tape, from the start of a trial on.
    pub(super) fn follow(&mut self, blocks: &BlockSeeds) {
        self.blocks = Some(blocks.clone());
    }

    /// The length of an epoch; never zero.
    fn length(&self) -> Duration {
        match self.means[0] + self.means[1] {
            Duration::ZERO => Duration::MAX,
            cycle => cycle * CYCLES,
        }
    }

    fn begin(&mut self, epoch: u64) {
        let [good, bad] = self.means.map(Duration::as_nanos);
        self.epoch = epoch;
        self.rng = random::at(self.key, epoch);
        let is_bad = Chance::ratio(bad, good.saturating_add(bad)).happens(&mut self.rng);
        self.is_bad = is_bad && bad > 0;
        let start = Instant::START + self.length() * epoch;
        self.until = start + self.sojourn();
    }

    /// How long the state lasts that begins now.
    fn sojourn(&mut self) -> Duration {
        let [mean, other] = match self.is_bad {
            false => self.means,
            true => [self.means[1], self.means[0]],
        };
        if other.is_zero() {
            return Duration::MAX; // there is no other state
        }
        let nanos = -libm::log(open_unit(&mut self.rng)) * mean.as_nanos() as f64;
        Duration::from_nanos((nanos + 0.5) as u64)
    }

    /// Later states, until `at`.
    fn go_on(&mut self, at: Instant) {
        while self.until < at {
            self.is_bad = !self.is_bad;
            let next = self.sojourn();
            self.until += next;
        }
    }

    /// Enters the blocks that begin before `at`, one after the other.
    fn enter_blocks(&mut self, at: Instant) {
        let last = at.as_nanos().saturating_sub(1) / BLOCK.as_nanos();
        let [good, bad] = self.means;
        let forgets = (good + bad) * CYCLES_FORGOTTEN <= BLOCK;
        while self.epoch < last {
            self.epoch = if forgets { last } else { self.epoch + 1 };
            let begins = Instant::START + BLOCK * self.epoch;
            let blocks = self.blocks.as_ref();
            let seed = blocks.map_or(self.key, |blocks| blocks.of(self.epoch));
            let mut rng = random::stream(seed, "fading");
            if forgets {
                self.is_bad = Chance::ratio(bad.as_nanos(), (good + bad).as_nanos())
                    .happens(&mut rng)
                    && !bad.is_zero();
            } else {
                self.go_on(begins);
            }
            self.rng = rng;
            self.until = begins + self.sojourn();
        }
    }

    /// Whether a packet whose last bit leaves at `at`, not before the last bit of the packet before, is lost.
    pub(super) fn strikes(&mut self, at: Instant, rng: &mut Pcg64Mcg) -> bool {
        if self.blocks.is_some() {
            self.enter_blocks(at);
        } else {
            let epoch = at.as_nanos().saturating_sub(1) / self.length().as_nanos();
            if epoch != self.epoch {
                self.begin(epoch);
            }
        }
        self.go_on(at);
        self.losses[usize::from(self.is_bad)].happens(rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use thalweg_units::Fraction;

    const GOOD: Duration = Duration::from_micros(636_000);
    const BAD: Duration = Duration::from_micros(16_700);

    /// When the packets that leave every `gap` for so many seconds are lost.
    fn lost(means: [Duration; 2], gap: Duration, seconds: u64, seed: u64) -> Vec<Instant> {
        let mut rng = stream(seed, "loss");
        let losses = [Fraction::ZERO, Fraction::ONE].map(Chance::from);
        let mut fading = Fading::new(means, losses, &mut rng);
        let end = Instant::START + Duration::from_secs(seconds);
        let mut at = Instant::START + gap;
        let mut lost = Vec::new();
        while at < end {
            if fading.strikes(at, &mut rng) {
                lost.push(at);
            }
            at += gap;
        }
        lost
    }

    /// With a tape: whether the packets that leave every millisecond for a second are lost.
    fn struck(seeds: [u64; 3], means: [Duration; 2]) -> Vec<bool> {
        let mut rng = stream(1, "loss");
        let losses = [Fraction::ZERO, Fraction::ONE].map(Chance::from);
        let mut fading = Fading::new(means, losses, &mut rng);
        fading.follow(&BlockSeeds::new(seeds.into_iter()));
        let at = |ms| Instant::START + Duration::from_millis(ms);
        (1..=300)
            .map(|ms| fading.strikes(at(ms), &mut rng))
            .collect()
    }

    #[test]
    fn a_block_of_a_tape_has_the_states_of_its_seed() {
        let ms = Duration::from_millis;
        // One that forgets in a block of 100 ms, and one that does not.
        for means in [[ms(1), ms(1)], [ms(40), ms(20)]] {
            let (one, other) = (struck([1, 2, 3], means), struck([1, 9, 3], means));
            assert_eq!(one[..100], other[..100]);
            assert_ne!(one[100..200], other[100..200]);
        }
        let forgotten = [ms(1), ms(1)];
        let (one, other) = (struck([1, 2, 3], forgotten), struck([1, 9, 3], forgotten));
        assert_eq!(one[200..], other[200..]);
    }

    #[test]
    fn the_share_of_the_time_and_the_length_of_bursts_do_not_depend_on_the_rate_of_packets() {
        for (gap_us, tolerance) in [(100, 0.0), (1_000, 0.5e-3), (20_000, 10e-3)] {
            let gap = Duration::from_micros(gap_us);
            let times = lost([GOOD, BAD], gap, 20_000, 3);
            // 16.7 / 652.7 = 2.559 % of 20 000 s in 30 600 bursts: the deviation of the sum is about sqrt(2 / 30 600) of it, 0.8 %.
            let share = times.len() as f64 * gap.as_secs_f64() / 20_000.0;
            assert!((0.0248..0.0264).contains(&share), "{gap}: {share}");
            // A burst ends where the next packet arrives. One that falls between two packets is not seen, so that
            // those that are seen are longer.
            let bursts = 1 + times
                .windows(2)
                .filter(|pair| pair[1] - pair[0] > gap)
                .count();
            let mean = times.len() as f64 * gap.as_secs_f64() / bursts as f64;
            let least = if gap < BAD { 0.0163 } else { gap.as_secs_f64() };
            assert!(
                (least..0.0172 + 2.0 * tolerance).contains(&mean),
                "{gap}: {mean}"
            );
        }
    }

    #[test]
    fn bad_times_are_those_of_the_seed_whatever_is_sent() {
        let often = lost([GOOD, BAD], Duration::from_millis(1), 200, 7);
        let seldom = lost([GOOD, BAD], Duration::from_millis(5), 200, 7);
        let is_common = |at: &&Instant| at.as_nanos().is_multiple_of(5_000_000);
        assert_eq!(
            often.iter().filter(is_common).copied().collect::<Vec<_>>(),
            seldom
        );
        assert_ne!(often, lost([GOOD, BAD], Duration::from_millis(1), 200, 8));
    }

    #[test]
    fn a_state_is_that_of_its_time_whoever_asked_before_and_no_time_is_far() {
        let quick = [Duration::from_micros(30), Duration::from_micros(10)];
        let ask = |times: &[u64]| {
            let mut rng = stream(9, "loss");
            let losses = [Fraction::ZERO, Fraction::ONE].map(Chance::from);
            let mut fading = Fading::new(quick, losses, &mut rng);
            let ask = |at: &u64| fading.strikes(Instant::from_nanos(*at), &mut rng);
            times.iter().map(ask).collect::<Vec<bool>>()
        };
        // An epoch is 65 536 cycles of 40 us, 2.62 s: 38 of them.
        let all: Vec<u64> = (1..=100_000).map(|number| number * 1_000_003).collect();
        let states = ask(&all);
        let bad = states.iter().filter(|bad| **bad).count();
        // A quarter, of states 25 cycles apart: the deviation is sqrt(1e5 * 0.25 * 0.75) = 137.
        assert!((24_400..25_600).contains(&bad), "{bad}");
        for (at, state) in all.iter().zip(&states).step_by(997) {
            assert_eq!(ask(&[*at]), [*state]);
        }
        // Centuries later, and never, each after 131 072 sojourns at most.
        assert_eq!(ask(&[u64::MAX - 1, u64::MAX]).len(), 2);
    }

    #[test]
    fn sojourns_are_exponential() {
        let mut rng = stream(1, "loss");
        let mut fading = Fading::new([GOOD, BAD], [Chance::ratio(0, 1); 2], &mut rng);
        fading.is_bad = true;
        let draws: Vec<f64> = (0..100_000)
            .map(|_| fading.sojourn().as_secs_f64() / 0.0167)
            .collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let beyond = draws.iter().filter(|draw| **draw > 2.0).count() as f64 / 1e5;
        // Deviations: 1 / sqrt(1e5) = 0.0032 of the mean, sqrt(0.135 * 0.865 / 1e5) = 0.0011 of P(x > 2) = e^-2 = 0.1353.
        assert!((0.987..1.013).contains(&mean), "{mean}");
        assert!((0.131..0.140).contains(&beyond), "{beyond}");
    }

    #[test]
    fn a_state_without_a_sojourn_never_comes() {
        let gap = Duration::from_millis(1);
        assert!(lost([GOOD, Duration::ZERO], gap, 10, 1).is_empty());
        assert_eq!(lost([Duration::ZERO, BAD], gap, 10, 1).len(), 9_999);
        assert!(lost([Duration::ZERO; 2], gap, 10, 1).is_empty());
    }
}
