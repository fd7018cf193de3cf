//! Reads a `.sqlog` file with the crate `qlog` and prints, as JSON, its header and how many events of each type it has.
//! Events of our own names are read as JSON. One of the namespace `quic` that the crate does not know ends it.

use qlog::reader::{Event, QlogSeqReader};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).ok_or("expected the name of a file")?;
    let reader = QlogSeqReader::new(Box::new(BufReader::new(File::open(name)?)))?;
    let header = serde_json::to_value(&reader.qlog)?;
    let mut counts = BTreeMap::new();
    let mut last = 0.0;
    for event in reader {
        let (name, time) = match &event {
            Event::Qlog(event) => {
                let text = serde_json::to_value(event)?;
                (text["name"].as_str().unwrap_or_default().to_owned(), event.time)
            }
            Event::Json(event) => (event.name.clone(), event.time),
        };
        if matches!(event, Event::Json(_)) && name.starts_with("quic:") {
            return Err(format!("{name} at {time} is not as the crate knows it").into());
        }
        last = f64::max(last, time as f64);
        *counts.entry(name).or_insert(0_u64) += 1;
    }
    println!("{}", serde_json::json!({ "header": header, "counts": counts, "last": last }));
    Ok(())
}
