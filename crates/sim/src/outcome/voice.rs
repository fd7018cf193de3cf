//! A mean opinion score for audio: the E-model (ITU-T G.107), with only its effects of delay and loss.
//!
//! - `R = 93.2 - Id - Ie`, 93.2 being what the default values of all else leave.
//! - `Id = 0.024 d + 0.11 (d - 177.3)` of the delay `d` in milliseconds from mouth to ear, the last part if it is
//!   positive: the approximation of Cole and Rosenbluth ("Voice over IP Performance Monitoring", 2001).
//! - `Ie = 95 p / (p + 25.1)` of the share `p` of frames that are not played, in percent: the Ie of G.711 with
//!   concealment of losses, whose Ie is 0 and whose Bpl is 25.1 (ITU-T G.113 Appendix I).
//! - `MOS = 1 + 0.035 R + R (R - 60) (100 - R) 7e-6`, at least 1 (ITU-T G.107 Annex B).
//!
//! The receiver plays each frame at a fixed time after its generation. A frame that comes later counts as lost, and
//! the time is the one that gives the best score: the score of an ideal buffer (Sun and Ifeachor, "New Models for
//! Perceived Voice Quality Prediction and their Applications in Playout Buffer Optimization for VoIP Networks", ICC
//! 2004).
//!
//! # Limits
//! Coding and the devices take no time. No standard has these numbers for codecs of today such as Opus.

use crate::trial::media::FrameRecord;

/// R without delay and loss.
const BEST: f64 = 93.2;
/// Id, per millisecond, and from where it grows faster.
const DELAY: f64 = 0.024;
const LONG_DELAY: f64 = 0.11;
const LONG: f64 = 177.3;
/// Ie at a loss of all, and the robustness against losses, in percent.
const MOST_LOSS: f64 = 95.0;
const ROBUSTNESS: f64 = 25.1;

/// The score of the frames that arrived, of so many that were generated; `None` of none.
pub(super) fn score(frames: &[&FrameRecord], generated: u64) -> Option<f64> {
    let generated = generated.max(frames.len() as u64);
    let one_way = frames.iter().map(|frame| frame.received - frame.generated);
    let mut delays: Vec<f64> = one_way.map(|delay| delay.as_secs_f64() * 1e3).collect();
    delays.sort_unstable_by(f64::total_cmp);
    let rated = delays.iter().zip(1_u64..).map(|(delay, played)| {
        let missing = (generated - played) as f64 / generated as f64;
        rating(*delay, 100.0 * missing)
    });
    (generated > 0).then(|| opinion(rated.fold(0.0, f64::max)))
}

/// R at a delay in milliseconds and a loss in percent.
fn rating(delay: f64, loss: f64) -> f64 {
    let by_delay = DELAY * delay + LONG_DELAY * (delay - LONG).max(0.0);
    let by_loss = MOST_LOSS * loss / (loss + ROBUSTNESS);
    BEST - by_delay - by_loss
}

/// The mean opinion score that a rating stands for.
fn opinion(rating: f64) -> f64 {
    let r = rating.clamp(0.0, 100.0);
    (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Bytes, Duration, Instant};

    fn frame(delay: u64) -> FrameRecord {
        let received = Instant::START + Duration::from_millis(delay);
        FrameRecord {
            nominal: Instant::START,
            generated: Instant::START,
            received,
            size: Bytes::ZERO,
        }
    }

    fn scored(delays: &[u64], generated: u64) -> f64 {
        let frames: Vec<FrameRecord> = delays.iter().map(|delay| frame(*delay)).collect();
        score(&frames.iter().collect::<Vec<_>>(), generated).unwrap()
    }

    #[test]
    fn a_score_falls_with_delay_and_with_loss() {
        // R 93.2 is 4.41; 200 ms take 0.024 * 200 + 0.11 * 22.7 = 7.3, and R 85.9 is 4.226.
        assert!((scored(&[0; 100], 100) - 4.41).abs() < 0.005);
        assert!((scored(&[200; 100], 100) - 4.226).abs() < 0.005);
        // Two of a hundred missing take 95 * 2 / 27.1 = 7.0: R 86.2 is 4.235.
        assert!((scored(&[0; 98], 100) - 4.235).abs() < 0.005);
        assert_eq!(score(&[], 10), Some(1.0));
        assert_eq!(score(&[], 0), None);
    }

    #[test]
    fn the_time_of_playing_trades_delay_for_loss() {
        // One of a hundred comes after 2 s: to lose it costs 95 / 26.1 = 3.6, to wait for it 248.
        let mut delays = vec![50; 99];
        delays.push(2_000);
        let without = opinion(rating(50.0, 1.0));
        assert_eq!(scored(&delays, 100), without);
        // A fifth after 100 ms: waiting costs 1.2 more, losing them 42.
        let mut delays = vec![50; 80];
        delays.extend([100; 20]);
        assert_eq!(scored(&delays, 100), opinion(rating(100.0, 0.0)));
    }
}
