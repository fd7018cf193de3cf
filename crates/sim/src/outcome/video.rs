//! A mean opinion score for video: the video quality of ITU-T G.1070 (2012).
//!
//! With the bit rate `B` in kbps, the frame rate `F` in frames a second and the loss `P` of packets in percent:
//!
//! - `Vq = 1 + I exp(-P / D)`;
//! - `I = J exp(-(ln F - ln O)^2 / (2 S^2))`: of the best frame rate at this bit rate `O = v1 + v2 B`, the most that it
//!   reaches `J = v3 - v3 / (1 + (B / v4)^v5)`, and how much other frame rates take away `S = v6 + v7 B`;
//! - `D = v10 + v11 exp(-F / v8) + v12 exp(-B / v9)`, the robustness against loss.
//!
//! The coefficients are the provisional ones of H.264 in VGA on a display of 9.2 inches.
//!
//! # Loss
//! The model has a loss of packets, an outcome of this laboratory frames that are not there at their deadline: skipped, lost,
//! or late, which G.1070 counts as lost too. A frame of `n` packets is lost if one of them is, so that a share `f`
//! of frames stands for a loss `P = 1 - (1 - f)^(1 / n)`.
//!
//! # Limits
//! The recommendation is for planning: it sees neither content nor codecs of today, freezes count through late frames only,
//! and neither delay nor a change of the rate has an effect. Its frame rates end at 30 a second; more count as 30.
//! The formulas and coefficients were checked against two public implementations, not against ITU-T's text.

use thalweg_units::Rate;

/// `v1` to `v12`.
const V: [f64; 12] = [
    5.517, 1.29e-2, 3.459, 178.53, 1.02, 1.15, 3.55e-4, 0.114, 513.77, 0.736, -6.451, 13.684,
];
/// The largest frame rate of the model.
const MOST_FRAMES: f64 = 30.0;
/// What a packet carries of a frame: what datagrams of media do.
const PACKET: u64 = 1150;

/// What the score is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Video {
    pub(super) rate: Rate,
    pub(super) per_second: u32,
    /// Frames that were there by their deadline, and that were due.
    pub(super) in_time: u64,
    pub(super) due: u64,
}

/// The score; `None` if no frame was due.
pub(super) fn score(video: Video) -> Option<f64> {
    let Video { due, in_time, .. } = video;
    if due == 0 {
        return None;
    }
    let missing = due.saturating_sub(in_time) as f64 / due as f64;
    let size = video.rate.as_bits_per_sec() / 8 / u64::from(video.per_second);
    let packets = size.div_ceil(PACKET).max(1) as f64;
    let loss = 100.0 * (1.0 - libm::pow(1.0 - missing, 1.0 / packets));
    let kbps = video.rate.as_bits_per_sec() as f64 / 1e3;
    let frames = f64::from(video.per_second).min(MOST_FRAMES);
    Some(quality(kbps, frames, loss))
}

/// `Vq` of a bit rate in kbps, a frame rate and a loss of packets in percent.
fn quality(bit_rate: f64, frame_rate: f64, loss: f64) -> f64 {
    let [v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12] = V;
    let best = v1 + v2 * bit_rate;
    let most = v3 - v3 / (1.0 + libm::pow(bit_rate / v4, v5));
    let spread = v6 + v7 * bit_rate;
    let off = libm::log(frame_rate) - libm::log(best);
    let coding = most * libm::exp(-off * off / (2.0 * spread * spread));
    let robustness = v10 + v11 * libm::exp(-frame_rate / v8) + v12 * libm::exp(-bit_rate / v9);
    1.0 + coding * libm::exp(-loss / robustness)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn video(kbps: u64, in_time: u64) -> Video {
        Video {
            rate: Rate::from_bits_per_sec(1000 * kbps),
            per_second: 30,
            in_time,
            due: 1000,
        }
    }
    fn scored(kbps: u64, in_time: u64) -> f64 {
        score(video(kbps, in_time)).unwrap()
    }

    #[test]
    fn a_score_rises_with_the_bit_rate_and_falls_with_frames_that_are_missing() {
        // 1 Mbps: O = 18.42, J = 3.459 - 3.459 / (1 + 5.601^1.02) = 2.950, S = 1.505; ln(30 / 18.42) = 0.4879, so
        // I = 2.950 exp(-0.2381 / 4.530) = 2.799.
        assert!((scored(1000, 1000) - 3.799).abs() < 0.0005);
        // A hundredth of the frames, of 4 packets of 4166 B each: P = 0.251 %; D = 0.736 + 13.684 exp(-1.946) = 2.690,
        // and 2.799 exp(-0.0933) = 2.550.
        assert!((scored(1000, 990) - 3.550).abs() < 0.0005);
        // No frame in time: nothing is left, 2.799 exp(-100 / 2.690) < 1e-15.
        assert!((scored(1000, 0) - 1.0).abs() < 1e-12);
        let rates = [20, 100, 300, 1000, 3000, 50_000];
        assert!(rates.map(|kbps| scored(kbps, 1000)).is_sorted());
        assert!(
            rates
                .iter()
                .all(|kbps| (1.0..=4.46).contains(&scored(*kbps, 1000)))
        );
        assert_eq!(
            score(Video {
                due: 0,
                ..video(300, 0)
            }),
            None
        );
    }

    #[test]
    fn more_frames_than_the_model_knows_count_as_its_most() {
        let fast = Video {
            per_second: 60,
            ..video(1000, 1000)
        };
        assert_eq!(score(fast), score(video(1000, 1000)));
    }
}
