//! noq #819: BBRv3 is slower than CUBIC where jitter reorders packets. Here it is never told that a packet which it has
//! counted as lost has arrived, so it never undoes its response (draft-ietf-ccwg-bbr-06 section 5.5.11).

use super::Bug;
use thalweg_control::event::SpuriousLoss;
use thalweg_control::{Context, Controller};

pub(super) struct SpuriousUnheard;

impl Bug for SpuriousUnheard {
    fn on_spurious_loss(
        &mut self,
        _sound: &mut dyn Controller,
        _event: &SpuriousLoss,
        _cx: &mut Context<'_>,
    ) {
    }
}
