//! What packets were sent for that are acknowledged now (draft-ietf-ccwg-bbr-06 section 2.14).

/// BBR.ack_phase: the phase in which the packets acknowledged now were sent (section 2.14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckPhase {
    /// No probing.
    #[default]
    Init,
    /// Sending at the estimated bandwidth to fill the pipe.
    Refilling,
    /// Volume in flight is rising.
    ProbeStarting,
    /// ACKs of the rise are arriving.
    ProbeFeedback,
    /// The rise is over, its ACKs are still arriving.
    ProbeStopping,
}
