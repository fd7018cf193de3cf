//! The methods that a controller in another language may define.

/// A method, in the order in which records of events are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handler {
    /// `on_handshake_rtt`
    HandshakeRtt,
    /// `on_sent`
    Sent,
    /// `on_ack`
    Ack,
    /// `on_lost`
    Lost,
    /// `on_timeout`
    Timeout,
    /// `on_spurious_loss`
    SpuriousLoss,
    /// `on_ecn`
    Ecn,
    /// `on_rtt`
    Rtt,
    /// `on_app_limited`
    AppLimited,
    /// `on_idle_restart`
    IdleRestart,
    /// `on_seed`
    Seed,
    /// `on_report`, which the trait has not: sums of events (see [`report`](crate::report))
    Report,
    /// `observe`
    Observe,
}

impl Handler {
    /// How many there are.
    pub const COUNT: usize = Handler::ALL.len();
    /// All of them; the position of each is its number.
    pub const ALL: [Handler; 13] = [
        Handler::HandshakeRtt,
        Handler::Sent,
        Handler::Ack,
        Handler::Lost,
        Handler::Timeout,
        Handler::SpuriousLoss,
        Handler::Ecn,
        Handler::Rtt,
        Handler::AppLimited,
        Handler::IdleRestart,
        Handler::Seed,
        Handler::Report,
        Handler::Observe,
    ];

    /// The name of the method.
    pub fn name(self) -> &'static str {
        match self {
            Handler::HandshakeRtt => "on_handshake_rtt",
            Handler::Sent => "on_sent",
            Handler::Ack => "on_ack",
            Handler::Lost => "on_lost",
            Handler::Timeout => "on_timeout",
            Handler::SpuriousLoss => "on_spurious_loss",
            Handler::Ecn => "on_ecn",
            Handler::Rtt => "on_rtt",
            Handler::AppLimited => "on_app_limited",
            Handler::IdleRestart => "on_idle_restart",
            Handler::Seed => "on_seed",
            Handler::Report => "on_report",
            Handler::Observe => "observe",
        }
    }
}
