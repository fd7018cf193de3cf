//! The engine in a web page: the trials of `thalweg-sim`, with the same trace hashes, in WebAssembly.
//!
//! A page runs it in a Web Worker, which it ends to stop a trial. Nothing is read but the texts that are passed, and
//! nothing is sent: there are no files, no threads and no QUIC stack, and a scenario that needs one is refused with
//! the message of the native engine, or with one that says that this build lacks it.
//!
//! JavaScript asks in JSON ([`requests`]) and gets JSON and columns ([`tables`]), through the few functions of
//! [`boundary`].
//!
//! # Units
//! Columns have their unit in the name, see `docs/reference/results.md`. Seeds are texts in JSON, which has no 64 bits.

pub mod boundary;
mod controller;
mod description;
mod requests;
mod tables;

use boundary::Answer;
use serde_json::{Value, json};
use tables::Columns;
use thalweg_sim::ScenarioError;

/// Answers a request: `{"result": ...}`, `{"refused": {"message", "line", "key"}}` of a scenario, or `{"failed": text}`.
fn answer(request: &str) -> Answer {
    let mut columns = Columns::default();
    let found = match requests::answer(request, &mut columns) {
        Ok(result) => json!({ "result": result }),
        Err(Problem::Refused(error)) => json!({ "refused": {
            "message": error.to_string(), "line": error.line, "key": error.key,
        }}),
        Err(Problem::Failed(message)) => json!({ "failed": message }),
    };
    Answer {
        json: found.to_string(),
        columns: columns.kept,
    }
}

/// Why there is no result.
enum Problem {
    /// The scenario is refused.
    Refused(Box<ScenarioError>),
    /// The request is not one.
    Failed(String),
}

type Answered = Result<Value, Problem>;
