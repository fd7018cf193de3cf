//! Loss of a scenario file, as the path knows it.

use crate::scenario::schema::{Loss, Path};
use thalweg_path::{LossConfig, LossScript};
use thalweg_units::Duration;

/// The process that is described, or what is wrong with it.
pub(in super::super) fn config(loss: &Loss) -> Result<LossConfig, String> {
    match loss {
        Loss::Random { rate } => Ok(LossConfig::Random { rate: *rate }),
        &Loss::GilbertElliott {
            p,
            r,
            good,
            bad,
            good_loss,
            bad_loss,
        } => match (p, r, good, bad) {
            (Some(p), Some(r), None, None) => Ok(LossConfig::GilbertElliott {
                p,
                r,
                good_loss,
                bad_loss,
            }),
            (None, None, Some(Duration::ZERO), Some(_)) => {
                Err("good \"0 s\" is not a time; accepted: good = \"636 ms\", above 0".to_owned())
            }
            (None, None, Some(good), Some(bad)) => Ok(LossConfig::Fading {
                good,
                bad,
                good_loss,
                bad_loss,
            }),
            _ => Err(
                "\"gilbert-elliott\" requires p and r, its steps for each packet, or good and bad, its mean times; \
                 accepted: p = \"0.1 %\", r = \"30 %\", or good = \"636 ms\", bad = \"16.7 ms\""
                    .to_owned(),
            ),
        },
        Loss::Periodic { every: 0 } => {
            Err("every 0 is not a period; accepted: every = 1000, or 1 or more".to_owned())
        }
        Loss::Periodic { every } => Ok(LossConfig::Periodic { every: *every }),
        Loss::Scripted { packets } if packets.is_empty() => Ok(LossConfig::None),
        Loss::Scripted { packets } => {
            let ranges = packets.iter().map(|range| (range.first, range.last));
            Ok(LossConfig::Scripted(LossScript::new(ranges)))
        }
    }
}

/// The mean time from one bad state to the next, where it is a time.
pub(in super::super) fn cycle(loss: &Loss) -> Option<Duration> {
    match loss {
        Loss::GilbertElliott {
            good: Some(good),
            bad: Some(bad),
            ..
        } if !bad.is_zero() => Some(*good + *bad),
        _ => None,
    }
}

/// The losses of a hop and their keys.
pub(in super::super) fn all(hop: &Path) -> Vec<(String, &Loss)> {
    let up = hop.up.as_ref().and_then(|up| up.loss.as_deref());
    let start = [("loss", hop.loss.as_deref()), ("up.loss", up)];
    let start = start.map(|(key, loss)| (key.to_owned(), loss));
    let changes = hop.change.iter().enumerate().flat_map(|(index, change)| {
        let given = [("loss", &change.loss), ("up_loss", &change.up_loss)];
        given.map(|(key, loss)| (format!("change.{index}.{key}"), loss.as_deref()))
    });
    let all = start.into_iter().chain(changes);
    all.filter_map(|(key, loss)| Some((key, loss?))).collect()
}
