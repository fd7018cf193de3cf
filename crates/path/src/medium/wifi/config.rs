//! What a medium of IEEE 802.11 is made of: its physical layer, its access categories, its neighbours, and presets.

use super::graph::MOST_STATIONS;
use thalweg_units::Duration;

/// The physical layer, by the amendment of IEEE 802.11 that brought it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phy {
    /// HR/DSSS, 2.4 GHz, with the long preamble (clause 16).
    B,
    /// OFDM, 5 GHz (clause 17).
    A,
    /// ERP, 2.4 GHz, with short slots (clause 18): OFDM and a signal extension.
    G,
    /// HT, 5 GHz, one stream, mixed format (clause 19).
    N,
    /// VHT, 5 GHz, one stream (clause 21).
    Ac,
    /// HE, 5 GHz, one stream, single user (clause 27 of IEEE 802.11ax).
    Ax,
}

/// Constants of a physical layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// A slot of contention.
    pub slot: Duration,
    /// The short space before an acknowledgement.
    pub sifs: Duration,
    /// Preamble and header of a frame with data, and what follows its last symbol.
    pub preamble: Duration,
    /// The same of an acknowledgement.
    pub legacy: Duration,
    /// How long a station takes to sense that a frame has begun (aCCATime).
    pub sensing: Duration,
    /// How long a receiver takes to know it (aRxPHYStartDelay).
    pub start: Duration,
    /// A symbol with its guard interval.
    pub symbol: Duration,
    /// A symbol of an acknowledgement.
    pub legacy_symbol: Duration,
    /// Bits of service and tail in each frame.
    pub service: u64,
    /// What a packet has more in the air than on the link, in bytes: header and check of the MAC, LLC and SNAP.
    pub header: u64,
    /// Whether frames have the format of aggregates, in which each packet has a delimiter and is padded.
    pub aggregates: bool,
    /// The rates of acknowledgements in bits per second, from the lowest on. The first is the lowest rate of all.
    pub basic: &'static [u64],
    /// The smallest contention window outside of access categories.
    pub window: u32,
}

impl Phy {
    /// Its constants (IEEE 802.11-2020, tables 16-4, 17-21, 18-5, 19-25, 21-28; IEEE 802.11ax-2021, table 27-60).
    pub fn timing(self) -> Timing {
        const US: fn(u64) -> Duration = Duration::from_micros;
        let ofdm = Timing {
            slot: US(9),
            sifs: US(16),
            preamble: US(20),
            legacy: US(20),
            sensing: US(4),
            start: US(20),
            symbol: US(4),
            legacy_symbol: US(4),
            service: 16 + 6,
            header: 24 + 4 + 8,
            aggregates: false,
            basic: &[6_000_000, 12_000_000, 24_000_000],
            window: 15,
        };
        // With two bytes of QoS control.
        let ht = Timing {
            header: 26 + 4 + 8,
            aggregates: true,
            ..ofdm
        };
        match self {
            Phy::B => Timing {
                slot: US(20),
                sifs: US(10),
                preamble: US(192),
                legacy: US(192),
                sensing: US(15),
                start: US(192),
                symbol: US(1),
                legacy_symbol: US(1),
                service: 0,
                basic: &[1_000_000, 2_000_000],
                window: 31,
                ..ofdm
            },
            Phy::A => ofdm,
            Phy::G => Timing {
                sifs: US(10),
                preamble: US(26),
                legacy: US(26),
                ..ofdm
            },
            Phy::N => Timing {
                preamble: US(36),
                ..ht
            },
            Phy::Ac => Timing {
                preamble: US(40),
                ..ht
            },
            Phy::Ax => Timing {
                preamble: Duration::from_nanos(43_200),
                symbol: Duration::from_nanos(13_600),
                ..ht
            },
        }
    }

    /// The most packets of an aggregate: those that a block acknowledgement has room for.
    pub fn most_packets(self) -> u32 {
        match self {
            Phy::B | Phy::A | Phy::G => 1,
            Phy::N | Phy::Ac => 64,
            Phy::Ax => 256,
        }
    }
}

/// How a station contends (IEEE 802.11-2020, table 9-155, and 10.3 for the one without categories).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// The distributed coordination function: all alike.
    Dcf,
    /// AC_BK.
    Background,
    /// AC_BE.
    BestEffort,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

/// The parameters of an access category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contention {
    /// Slots of the space before contention, after the short one: AIFSN.
    pub space: u32,
    /// The smallest contention window, in slots.
    pub least: u32,
    /// The largest.
    pub most: u32,
}

impl Category {
    /// Its parameters on a physical layer.
    pub fn contention(self, phy: Phy) -> Contention {
        let window = phy.timing().window;
        let (half, quarter) = (window.div_ceil(2) - 1, window.div_ceil(4) - 1);
        let (space, least, most) = match self {
            Category::Dcf => (2, window, 1023),
            Category::Background => (7, window, 1023),
            Category::BestEffort => (3, window, 1023),
            Category::Video => (2, half, window),
            Category::Voice => (2, quarter, half),
        };
        Contention { space, least, most }
    }

    /// How long the frames of an access may take, without those that are in an access anyway: the limit of a transmission
    /// opportunity, or what drivers use where there is none.
    pub fn airtime(self) -> Duration {
        match self {
            Category::Voice => Duration::from_micros(2080),
            Category::Video => Duration::from_micros(4096),
            _ => Duration::from_millis(4),
        }
    }
}

/// Which ends of the hop hear a neighbour, and are heard by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Access point and client.
    Both,
    /// Only the access point: hidden from the client, and its frames are for the access point.
    AccessPoint,
    /// Only the client: hidden from the access point.
    Client,
    /// Neither: too weak to be sensed, and strong enough to destroy what either of them receives.
    Neither,
}

/// Virtual neighbours of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighbourConfig {
    /// How many.
    pub count: u32,
    /// Where they are.
    pub heard: Heard,
    /// How long a frame of theirs takes, preamble included and its acknowledgement not.
    pub airtime: Duration,
    /// Means of the exponential times in which they always have a frame, and have none. `None`: they always have one.
    pub bursts: Option<(Duration, Duration)>,
    /// How they contend.
    pub category: Category,
}

impl NeighbourConfig {
    /// One that both ends hear and that always has a frame.
    pub fn saturated(count: u32, airtime: Duration) -> Self {
        NeighbourConfig {
            count,
            heard: Heard::Both,
            airtime,
            bursts: None,
            category: Category::BestEffort,
        }
    }
}

/// Absences of the client, which looks for other networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanConfig {
    /// Time from one to the next. The first begins at a random time within it.
    pub every: Duration,
    /// How long each takes; shorter than `every`.
    pub length: Duration,
}

/// A medium of IEEE 802.11.
#[derive(Clone, Debug, PartialEq)]
pub struct WifiConfig {
    /// The physical layer.
    pub phy: Phy,
    /// How access point and client contend.
    pub category: Category,
    /// The most packets of an access.
    pub packets: u32,
    /// An access takes another packet as long as its frames take less than this.
    pub airtime: Duration,
    /// How often a frame is sent before its packets are dropped, at least once.
    pub attempts: u32,
    /// After so many failures of a frame in a row it is sent at half the rate, after twice as many at a quarter, down to the
    /// lowest rate of the physical layer. `None`: always at the rate of the link.
    pub fallback: Option<u32>,
    /// Other stations.
    pub neighbours: Vec<NeighbourConfig>,
    /// Absences of the client.
    pub scan: Option<ScanConfig>,
}

impl WifiConfig {
    /// A medium without neighbours, with the retry limit of the standard (dot11ShortRetryLimit: 7).
    pub fn new(phy: Phy) -> Self {
        WifiConfig {
            phy,
            category: Category::BestEffort,
            packets: phy.most_packets(),
            airtime: Category::BestEffort.airtime(),
            attempts: 7,
            fallback: None,
            neighbours: Vec::new(),
            scan: None,
        }
    }

    /// How many neighbours there is room for.
    pub const MOST_NEIGHBOURS: u32 = MOST_STATIONS as u32 - 2;

    /// How many stations there are, access point and client included.
    pub fn stations(&self) -> usize {
        let neighbours = self.neighbours.iter().map(|kind| kind.count as usize);
        2 + neighbours.sum::<usize>()
    }
}

/// A setting by the name of what it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WifiPreset {
    /// One household: three devices that both ends hear, each on for a fifth of the time.
    Home,
    /// A block of flats: nine neighbours that both ends hear, with frames of 3 ms, each on for a twentieth of the time.
    Apartment,
    /// An office: twenty stations with short frames, each on for a twentieth of the time.
    Office,
    /// A station that the client does not hear sends to the access point; drivers repeat a frame up to 30 times.
    Hidden,
    /// Nobody else, and a client that looks for other networks for 250 ms, twice in a minute.
    Scan,
}

impl WifiPreset {
    /// Its medium, on VHT.
    pub fn config(self) -> WifiConfig {
        let ms = Duration::from_millis;
        let plain = WifiConfig::new(Phy::Ac);
        let bursty = |count, airtime, on, off| NeighbourConfig {
            bursts: Some((on, off)),
            ..NeighbourConfig::saturated(count, airtime)
        };
        match self {
            WifiPreset::Home => WifiConfig {
                neighbours: vec![bursty(3, ms(1), ms(20), ms(80))],
                ..plain
            },
            WifiPreset::Apartment => WifiConfig {
                neighbours: vec![bursty(9, ms(3), ms(30), ms(570))],
                ..plain
            },
            WifiPreset::Office => WifiConfig {
                neighbours: vec![bursty(20, Duration::from_micros(300), ms(10), ms(190))],
                ..plain
            },
            WifiPreset::Hidden => {
                let hidden = NeighbourConfig {
                    heard: Heard::AccessPoint,
                    ..bursty(1, ms(2), ms(20), ms(180))
                };
                WifiConfig {
                    attempts: 30,
                    neighbours: vec![hidden],
                    ..plain
                }
            }
            WifiPreset::Scan => WifiConfig {
                scan: Some(ScanConfig {
                    every: Duration::from_secs(30),
                    length: ms(250),
                }),
                ..plain
            },
        }
    }
}
