//! What a scenario can name: controllers, models of the path, and the schema of its file.

use thalweg_control::registry::ENTRIES;
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
    let entries = ENTRIES.iter().map(|entry| {
        let options = entry.options.iter().map(|option| {
            serde_json::json!({
                "name": option.name,
                "accepted": option.kind.accepted(),
                "default": option.default,
                "meaning": option.meaning,
            })
        });
        serde_json::json!({
            "name": entry.name,
            "title": entry.title,
            "source": entry.source,
            "options": options.collect::<Vec<_>>(),
        })
    });
    serde_json::Value::from_iter(entries).to_string()
}

/// The models of the path, as JSON: kind, name, title and source of each.
#[wasm_bindgen]
pub fn models() -> String {
    let entries = thalweg_path::models().iter().map(|model| {
        serde_json::json!({
            "kind": model.kind.name(),
            "name": model.name,
            "title": model.title,
            "source": model.source,
        })
    });
    serde_json::Value::from_iter(entries).to_string()
}
