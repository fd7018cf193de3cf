//! Keys of `medium`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_path::wifi;
use thalweg_units::Duration;

/// How the directions of a hop share a medium.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, tag = "model", rename_all = "kebab-case")]
pub enum Medium {
    /// Each direction has a medium of its own, as without the key: for scenarios that change one of another.
    None {},
    /// One direction transmits at a time; under load they take turns.
    HalfDuplex {
        /// How long the medium stays busy after each access: preamble, acknowledgement of the link, contention.
        #[serde(default)]
        #[schemars(example = "170 us")]
        overhead: Duration,
        /// The most packets that an access carries.
        #[serde(default = "one")]
        packets: u32,
    },
    /// Access point, client and virtual neighbours contend as in IEEE 802.11; the rate of the hop is the rate in the air.
    Wifi {
        /// Settings of a kind of place, which the other keys change; without it there is nobody else.
        preset: Option<Preset>,
        /// Physical layer, by the amendment of IEEE 802.11: "ac" without a preset.
        phy: Option<Phy>,
        /// Access category of access point and client: "best-effort" without a preset.
        access: Option<Access>,
        /// The most packets of an access: 1 for "a", "b" and "g", 64 for "n" and "ac", 256 for "ax".
        packets: Option<u32>,
        /// An access takes another packet as long as its frames take less than this: 4 ms, or the limit of the category.
        #[schemars(example = "4 ms")]
        airtime: Option<Duration>,
        /// How often a frame is sent before its packets are lost; 7 without a preset, the retry limit of the standard.
        attempts: Option<u32>,
        /// After so many failures of a frame in a row its rate is halved, and so on; without it, the rate stays.
        fallback: Option<u32>,
        /// Other stations.
        neighbours: Option<Vec<Neighbours>>,
        /// Absences of the client, which looks for other networks.
        scan: Option<Scan>,
    },
}

fn one() -> u32 {
    1
}

/// A kind of place.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Three devices that both ends hear, each on for a fifth of the time.
    Home,
    /// Nine neighbours that both ends hear, with frames of 3 ms, each on for a twentieth of the time.
    Apartment,
    /// Twenty stations with short frames, each on for a twentieth of the time.
    Office,
    /// A station that the client does not hear; frames are sent up to 30 times.
    Hidden,
    /// Nobody else, and a client that is away for 250 ms of every 30 s.
    Scan,
}

impl Preset {
    /// The medium of this preset.
    pub fn config(self) -> wifi::WifiConfig {
        use wifi::WifiPreset as To;
        let preset = match self {
            Preset::Home => To::Home,
            Preset::Apartment => To::Apartment,
            Preset::Office => To::Office,
            Preset::Hidden => To::Hidden,
            Preset::Scan => To::Scan,
        };
        preset.config()
    }
}

/// An amendment of IEEE 802.11.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phy {
    B,
    A,
    G,
    N,
    Ac,
    Ax,
}

impl Phy {
    pub fn config(self) -> wifi::Phy {
        match self {
            Phy::B => wifi::Phy::B,
            Phy::A => wifi::Phy::A,
            Phy::G => wifi::Phy::G,
            Phy::N => wifi::Phy::N,
            Phy::Ac => wifi::Phy::Ac,
            Phy::Ax => wifi::Phy::Ax,
        }
    }
}

/// An access category of EDCA, or the coordination function without categories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    Dcf,
    Background,
    #[default]
    BestEffort,
    Video,
    Voice,
}

impl Access {
    pub fn config(self) -> wifi::Category {
        match self {
            Access::Dcf => wifi::Category::Dcf,
            Access::Background => wifi::Category::Background,
            Access::BestEffort => wifi::Category::BestEffort,
            Access::Video => wifi::Category::Video,
            Access::Voice => wifi::Category::Voice,
        }
    }
}

/// Stations of one kind.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Neighbours {
    /// How many.
    #[serde(default = "one")]
    pub count: u32,
    /// Which ends hear them, and are heard by them.
    #[serde(default)]
    pub heard: Heard,
    /// How long a frame of theirs takes.
    #[schemars(example = "1 ms")]
    pub airtime: Duration,
    /// Mean of the exponential times in which they always have a frame; they always do without it and `off`.
    #[schemars(example = "20 ms")]
    pub on: Option<Duration>,
    /// Mean of the exponential times between.
    #[schemars(example = "80 ms")]
    pub off: Option<Duration>,
    /// Their access category.
    #[serde(default)]
    pub access: Access,
}

/// Which ends hear a station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Heard {
    /// Access point and client.
    #[default]
    Both,
    /// Only the access point.
    AccessPoint,
    /// Only the client.
    Client,
    /// Neither: its frames destroy what either receives, and are not sensed.
    Neither,
}

impl Heard {
    pub fn config(self) -> wifi::Heard {
        match self {
            Heard::Both => wifi::Heard::Both,
            Heard::AccessPoint => wifi::Heard::AccessPoint,
            Heard::Client => wifi::Heard::Client,
            Heard::Neither => wifi::Heard::Neither,
        }
    }
}

/// Absences of the client.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scan {
    /// Time from one to the next.
    #[schemars(example = "30 s")]
    pub every: Duration,
    /// How long each takes.
    #[schemars(example = "250 ms")]
    pub length: Duration,
}
