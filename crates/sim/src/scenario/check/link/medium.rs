//! The medium of a hop.

use crate::scenario::check::Checker;
use crate::scenario::clock::Clock;
use crate::scenario::error::ScenarioError;
use crate::scenario::schema::{self, Medium};
use thalweg_path::wifi::{NeighbourConfig, Phy, ScanConfig, WifiConfig};
use thalweg_path::{HalfDuplexConfig, MediumConfig};
use thalweg_units::{Duration, Rate};

/// More than this an access of no known link costs: a second.
const MOST_OVERHEAD: Duration = Duration::from_secs(1);
/// The most packets that an access carries: more than an aggregate of IEEE 802.11be has frames, 1024.
const MOST_PACKETS: u32 = 10_000;
/// More than any frame of IEEE 802.11 takes (aPPDUMaxTime, 5.484 ms).
const MOST_AIRTIME: Duration = Duration::from_millis(10);
/// Less than any takes.
const LEAST_AIRTIME: Duration = Duration::from_micros(50);
/// Drivers repeat a frame ten times or sixty.
const MOST_ATTEMPTS: u32 = 1000;
/// The lowest rate of IEEE 802.11.
const LEAST_RATE: Rate = Rate::from_bits_per_sec(1_000_000);
/// Bursts, pauses and scans are no longer.
const MOST_TIME: Duration = Duration::from_secs(3600);

impl Checker<'_> {
    /// The medium of the hop whose key in the file is `table`.
    pub(in crate::scenario::check) fn medium(
        &self,
        table: &str,
        path: &schema::Path,
    ) -> Result<Option<MediumConfig>, ScenarioError> {
        let Some(medium) = path.shared_medium() else {
            return Ok(None);
        };
        let key = format!("{table}.medium");
        let up = path.up.as_ref();
        let refused = if !matches!(self.clock, Clock::Virtual) {
            Some("real time, where each direction has a clock of its own")
        } else if path.noise.is_some() {
            Some("noise: what is sent is not known before its end")
        } else if path.trace.is_some() || up.is_some_and(|up| up.trace.is_some()) {
            Some("a trace, which has the opportunities of one direction; give a rate")
        } else {
            None
        };
        if let Some(other) = refused {
            return self.fail(&key, format!("cannot be combined with {other}"));
        }
        match medium {
            Medium::None {} => Ok(None),
            Medium::HalfDuplex { overhead, packets } => {
                if *overhead > MOST_OVERHEAD {
                    let problem = format!(
                        "overhead \"{overhead}\" is too long; accepted: at most \"{MOST_OVERHEAD}\""
                    );
                    return self.fail(&key, problem);
                }
                self.is_between(
                    &key,
                    "packets",
                    *packets,
                    MOST_PACKETS,
                    " packets an access",
                )?;
                Ok(Some(MediumConfig::HalfDuplex(HalfDuplexConfig {
                    overhead: *overhead,
                    packets: *packets,
                })))
            }
            Medium::Wifi { .. } => {
                let config = self.wifi(&key, medium)?;
                self.rates_in_the_air(table, path)?;
                Ok(Some(MediumConfig::Wifi(Box::new(config))))
            }
        }
    }

    /// A medium for which stations contend.
    fn wifi(&self, key: &str, medium: &Medium) -> Result<WifiConfig, ScenarioError> {
        let Medium::Wifi {
            preset,
            phy,
            access,
            packets,
            airtime,
            attempts,
            fallback,
            neighbours,
            scan,
        } = medium
        else {
            return Ok(WifiConfig::new(Phy::Ac));
        };
        let mut config =
            preset.map_or_else(|| WifiConfig::new(Phy::Ac), schema::WifiPreset::config);
        if let Some(phy) = phy {
            config.phy = phy.config();
        }
        if let Some(access) = access {
            config.category = access.config();
        }
        let most = config.phy.most_packets();
        config.packets = packets.unwrap_or(most);
        let of = if most == 1 {
            ", as this physical layer has no aggregates"
        } else {
            " packets an access"
        };
        self.is_between(key, "packets", config.packets, most, of)?;
        config.airtime = airtime.unwrap_or(config.category.airtime());
        self.is_airtime(key, "airtime", config.airtime)?;
        config.attempts = attempts.unwrap_or(config.attempts);
        self.is_between(key, "attempts", config.attempts, MOST_ATTEMPTS, "")?;
        config.fallback = fallback.or(config.fallback);
        if let Some(fallback) = config.fallback {
            self.is_between(key, "fallback", fallback, MOST_ATTEMPTS, " failures")?;
        }
        if let Some(neighbours) = neighbours {
            let kinds = neighbours.iter().enumerate();
            let kinds = kinds
                .map(|(index, kind)| self.neighbours(&format!("{key}.neighbours.{index}"), kind));
            config.neighbours = kinds.collect::<Result<_, _>>()?;
        }
        let all = (config.neighbours.iter()).fold(0u32, |sum, kind| sum.saturating_add(kind.count));
        let most = WifiConfig::MOST_NEIGHBOURS;
        if all > most {
            let problem = format!("neighbours are {all} in all; accepted: at most {most}");
            return self.fail(key, problem);
        }
        if let Some(schema::Scan { every, length }) = *scan {
            self.is_time(key, "scan.every", every)?;
            if length >= every || length.is_zero() {
                let problem = format!(
                    "scan.length \"{length}\" is out of range; accepted: above \"0 s\" and below scan.every, \"{every}\""
                );
                return self.fail(key, problem);
            }
            config.scan = Some(ScanConfig { every, length });
        }
        Ok(config)
    }

    fn neighbours(
        &self,
        key: &str,
        kind: &schema::Neighbours,
    ) -> Result<NeighbourConfig, ScenarioError> {
        let most = WifiConfig::MOST_NEIGHBOURS;
        self.is_between(key, "count", kind.count, most, " stations")?;
        self.is_airtime(key, "airtime", kind.airtime)?;
        let bursts = match (kind.on, kind.off) {
            (None, None) => None,
            (Some(on), Some(off)) => {
                self.is_time(key, "on", on)?;
                self.is_time(key, "off", off)?;
                Some((on, off))
            }
            _ => {
                let problem = "on and off belong together; accepted: both, or neither for a station that always has a frame";
                return self.fail(key, problem);
            }
        };
        Ok(NeighbourConfig {
            count: kind.count,
            heard: kind.heard.config(),
            airtime: kind.airtime,
            bursts,
            category: kind.access.config(),
        })
    }

    /// Rates are rates of frames, so no lower than the lowest.
    fn rates_in_the_air(&self, table: &str, path: &schema::Path) -> Result<(), ScenarioError> {
        let up = path.up.as_ref().and_then(|up| up.rate);
        let mut rates = vec![("rate".to_owned(), path.rate), ("up.rate".to_owned(), up)];
        for (index, change) in path.change.iter().enumerate() {
            rates.push((format!("change.{index}.rate"), change.rate));
            rates.push((format!("change.{index}.up_rate"), change.up_rate));
        }
        for (key, rate) in rates {
            if let Some(rate) = rate.filter(|rate| !rate.is_zero() && *rate < LEAST_RATE) {
                let problem = format!(
                    "\"{rate}\" is below the lowest rate of the medium \"wifi\"; accepted: at least \"{LEAST_RATE}\", or \"0 bps\""
                );
                return self.fail(&format!("{table}.{key}"), problem);
            }
        }
        Ok(())
    }

    fn is_between(
        &self,
        key: &str,
        name: &str,
        value: u32,
        most: u32,
        of: &str,
    ) -> Result<(), ScenarioError> {
        if (1..=most).contains(&value) {
            return Ok(());
        }
        let accepted = if most == 1 {
            "1".to_owned()
        } else {
            format!("1 to {most}")
        };
        let problem = format!("{name} {value} is out of range; accepted: {accepted}{of}");
        self.fail(key, problem)
    }

    fn is_airtime(&self, key: &str, name: &str, time: Duration) -> Result<(), ScenarioError> {
        self.is_within(key, name, time, LEAST_AIRTIME, MOST_AIRTIME)
    }

    fn is_time(&self, key: &str, name: &str, time: Duration) -> Result<(), ScenarioError> {
        self.is_within(key, name, time, Duration::from_micros(1), MOST_TIME)
    }

    fn is_within(
        &self,
        key: &str,
        name: &str,
        time: Duration,
        least: Duration,
        most: Duration,
    ) -> Result<(), ScenarioError> {
        if (least..=most).contains(&time) {
            return Ok(());
        }
        let problem =
            format!("{name} \"{time}\" is out of range; accepted: \"{least}\" to \"{most}\"");
        self.fail(key, problem)
    }
}
