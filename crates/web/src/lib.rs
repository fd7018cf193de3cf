//! The engine in a web page: the trials of `thalweg-sim`, with the same trace hashes, in WebAssembly.
//!
//! A page runs it in a Web Worker, which it ends to stop a trial. Nothing is read but the texts that are passed, and
//! nothing is sent: there are no files, no threads and no QUIC stack, and a scenario that needs one is refused with
//! the message of the native engine, or with one that says that this build lacks it.
//!
//! # Units
//! Columns have their unit in the name, see `docs/reference/results.md`. Seeds are `bigint`.

pub mod controller;
pub mod registry;
mod tables;

use js_sys::{Array, BigUint64Array, Error, Function, Object, Reflect};
use serde_json::Value;
use thalweg_columns::{PassageTables, descriptions, outcomes};
use thalweg_sim::{
    Clock, Finished, Progress, ScenarioError, Watch, run_traced, run_trials, run_watched,
};
use thalweg_units::Duration;
use wasm_bindgen::prelude::*;

/// A scenario, checked.
#[wasm_bindgen]
pub struct Scenario(thalweg_sim::Scenario);

#[wasm_bindgen]
impl Scenario {
    /// Reads and checks the text of a scenario file. `origin` is the name that messages show; `sets` and
    /// `controllers` are objects such as `{"path.rate": "5 Mbps"}` and `{main: "cubic:beta=0.8"}`.
    ///
    /// # Errors
    /// An `Error` with the message of the native engine and, where they are known, `line` and `key`.
    #[wasm_bindgen(constructor)]
    pub fn new(
        text: &str,
        origin: &str,
        sets: &Object,
        controllers: &Object,
    ) -> Result<Scenario, Error> {
        let (sets, controllers) = (pairs(sets)?, pairs(controllers)?);
        let scenario = thalweg_sim::Scenario::read(
            text.as_bytes(),
            origin,
            &sets,
            &controllers,
            Clock::Virtual,
            &controller::registry(),
        );
        let mut scenario = scenario.map_err(|error| refusal(&error))?;
        controller::bind(&mut scenario.flows);
        Ok(Scenario(scenario))
    }

    /// Its title.
    #[wasm_bindgen(getter)]
    pub fn title(&self) -> String {
        self.0.title.clone()
    }

    /// The scenario as it runs, with what `sets` and `controllers` changed.
    #[wasm_bindgen(getter)]
    pub fn toml(&self) -> String {
        self.0.toml().to_owned()
    }

    /// Its keys and values as JSON, as they stand in `toml`.
    ///
    /// # Errors
    /// None: the text was read before.
    #[wasm_bindgen(getter)]
    pub fn values(&self) -> Result<String, JsValue> {
        let table: toml::Table = toml::from_str(self.0.toml()).map_err(text)?;
        serde_json::to_string(&table).map_err(text)
    }

    /// Its criteria as JSON, with targets and floors in seconds, bits per second or parts of 1.
    #[wasm_bindgen(getter)]
    pub fn criteria(&self) -> String {
        Value::from(descriptions::criteria(&self.0)).to_string()
    }

    /// Floor of the completion of the first flow, in seconds.
    #[wasm_bindgen(getter, js_name = floorS)]
    pub fn floor_s(&self) -> Option<f64> {
        self.0.floor().map(Duration::as_secs_f64)
    }

    /// The names of its flows.
    #[wasm_bindgen(getter)]
    pub fn flows(&self) -> Vec<String> {
        self.0.flows.iter().map(|flow| flow.name.clone()).collect()
    }

    /// When each of them starts, before noise, in seconds.
    #[wasm_bindgen(getter, js_name = startsS)]
    pub fn starts_s(&self) -> Vec<f64> {
        let starts = self.0.flows.iter().map(|flow| flow.start.as_secs_f64());
        starts.collect()
    }

    /// Runs one trial: `{outcomes, trace}`, each an object of tables; `trace` only if it was asked for.
    ///
    /// # Errors
    /// None that a caller could cause: those of JavaScript objects.
    pub fn run(&self, seed: u64, traced: bool) -> Result<Object, JsValue> {
        let progress = begin();
        let result = Object::new();
        let finished = if traced {
            let trial = run_traced(&self.0, seed, &progress);
            let (finished, trace) = trial.ok_or("the trial was stopped")?;
            set(&result, "trace", tables::trace(trace)?)?;
            vec![finished]
        } else {
            run_trials(&self.0, &[seed], 1, &progress)
        };
        set(&result, "outcomes", self.outcomes(&finished)?)?;
        Ok(result)
    }

    /// Runs one trial for the passages of its packets through links: `{tables: {packets, limits}, links, untilS}`. `from_s`
    /// is the time from which on packets are wanted, `most` the largest number of them; the rest is left out, and
    /// `untilS` says up to when none is.
    ///
    /// # Errors
    /// None that a caller could cause: those of JavaScript objects.
    pub fn packets(&self, seed: u64, from_s: f64, most: u32) -> Result<Object, JsValue> {
        let watch = Watch::from_seconds(from_s, most as usize);
        let trial = run_watched(&self.0, seed, watch, &begin());
        let (_, passages) = trial.ok_or("the trial was stopped")?;
        let found = PassageTables::from(passages);
        let result = Object::new();
        let tables = tables::tables([("packets", found.packets), ("limits", found.limits)])?;
        set(&result, "tables", tables)?;
        set(&result, "links", tables::texts(&found.links))?;
        set(&result, "untilS", found.until_s)?;
        Ok(result)
    }

    /// Runs one trial for each seed. `on_finished` is called after each with the number of finished ones; the rest
    /// is left out when it returns `false`.
    ///
    /// # Errors
    /// What `on_finished` throws.
    pub fn trials(
        &self,
        seeds: &BigUint64Array,
        on_finished: Option<Function>,
    ) -> Result<Object, JsValue> {
        let mut finished: Vec<Finished> = Vec::with_capacity(seeds.length() as usize);
        for (index, seed) in seeds.to_vec().into_iter().enumerate() {
            let trial = run_trials(&self.0, &[seed], 1, &begin());
            finished.extend(trial.into_iter().map(|trial| Finished { index, ..trial }));
            if let Some(call) = &on_finished {
                let count = JsValue::from(finished.len() as u32);
                if call.call1(&JsValue::UNDEFINED, &count)? == JsValue::FALSE {
                    break;
                }
            }
        }
        self.outcomes(&finished)
    }

    fn outcomes(&self, finished: &[Finished]) -> Result<Object, JsValue> {
        let flows = &self.0.flows;
        tables::tables([
            ("flows", outcomes::flows(flows, finished)),
            ("links", outcomes::links(finished)),
            ("trials", outcomes::trials(finished)),
            ("requests", outcomes::requests(flows, finished)),
            ("streams", outcomes::streams(flows, finished)),
        ])
    }
}

/// A trial begins: the random sources of those before it go.
fn begin() -> Progress {
    controller::forget_draws();
    Progress::default()
}

/// The entries of an object whose values are texts.
fn pairs(object: &Object) -> Result<Vec<(String, String)>, Error> {
    let entries = Object::entries(object);
    let texts = entries.iter().map(|entry| {
        let entry = Array::from(&entry);
        entry.get(0).as_string().zip(entry.get(1).as_string())
    });
    texts
        .collect::<Option<_>>()
        .ok_or_else(|| Error::new("a value is not a text; accepted: {\"path.rate\": \"5 Mbps\"}"))
}

fn refusal(refused: &ScenarioError) -> Error {
    let error = Error::new(&refused.to_string());
    error.set_name("ScenarioError");
    let line = refused
        .line
        .map_or(JsValue::NULL, |line| JsValue::from(line as u32));
    let key = refused.key.as_deref().map_or(JsValue::NULL, JsValue::from);
    for (name, value) in [("line", line), ("key", key)] {
        // An error that was just made takes properties.
        let _ = Reflect::set(&error, &name.into(), &value);
    }
    error
}

fn text(error: impl ToString) -> JsValue {
    JsValue::from(error.to_string())
}

fn set(object: &Object, name: &str, value: impl Into<JsValue>) -> Result<(), JsValue> {
    Reflect::set(object, &name.into(), &value.into()).map(|_| ())
}
