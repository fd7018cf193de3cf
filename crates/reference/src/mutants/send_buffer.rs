//! nginx #217, and openssl #22569, s2n-quic #700: the buffer of a stream holds 64 KiB until they are acknowledged, so no
//! more is in flight in any round trip, whatever the window.

use super::Bug;
use thalweg_control::{Control, Controller};
use thalweg_units::Bytes;

/// The buffer of the threads.
const BUFFER: Bytes = Bytes::new(65_536);

pub(super) struct SendBuffer;

impl Bug for SendBuffer {
    fn control(&self, sound: &dyn Controller) -> Control {
        let control = sound.control();
        Control {
            window: control.window.min(BUFFER),
            ..control
        }
    }
}
