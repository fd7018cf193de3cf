//! What a scenario can name: controllers, models of the path, and the schema of its file.

use serde_json::Value;
use thalweg_columns::descriptions;
use thalweg_control::Registry;
use thalweg_units::{Bytes, Duration, Fraction, Rate};
use wasm_bindgen::prelude::*;

/// Version of the engine.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// JSON schema of a scenario file.
#[wasm_bindgen(js_name = scenarioSchema)]
pub fn scenario_schema() -> String {
    thalweg_sim::json_schema()
}

/// The controllers, as JSON: name, title, source and options of each.
#[wasm_bindgen]
pub fn controllers() -> String {
    Value::from(descriptions::controllers(&Registry::standard())).to_string()
}

/// The models of the path, as JSON: kind, name, title and source of each.
#[wasm_bindgen]
pub fn models() -> String {
    Value::from(descriptions::models()).to_string()
}

/// The metrics of criteria, as JSON: name, unit, of and meaning of each.
#[wasm_bindgen]
pub fn metrics() -> String {
    Value::from(descriptions::metrics()).to_string()
}

/// The number that a quantity stands for: of a rate in bits per second, of a time in seconds, of a size in bytes, of a
/// fraction in parts of 1. `undefined` for a text that is none.
#[wasm_bindgen]
pub fn amount(text: &str) -> Option<f64> {
    let rate = text.parse().map(|rate: Rate| rate.as_bits_per_sec() as f64);
    let time = || text.parse().map(Duration::as_secs_f64);
    let size = || text.parse().map(|size: Bytes| size.as_u64() as f64);
    let share = || text.parse().map(Fraction::as_f64);
    rate.or_else(|_| time())
        .or_else(|_| size())
        .or_else(|_| share())
        .ok()
}
