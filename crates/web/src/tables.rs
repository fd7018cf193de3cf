//! Columns for JavaScript: an object of typed arrays.
//!
//! Numbers and counts are a `Float64Array` (counts are exact to 2^53), seeds a `BigUint64Array`, truth values a
//! `Uint8Array` of 0 and 1, distinct texts an `Array`. Words are `{indices: Uint32Array, words: Array}`.

use crate::set;
use js_sys::{Array, BigUint64Array, Float64Array, Object, Uint8Array, Uint32Array};
use thalweg_columns::{Column, Table, TraceTables};
use thalweg_sim::Trace;
use wasm_bindgen::prelude::*;

/// Several tables by name.
pub(crate) fn tables<const N: usize>(tables: [(&str, Table); N]) -> Result<Object, JsValue> {
    let object = Object::new();
    for (name, table) in tables {
        set(&object, name, columns(table)?)?;
    }
    Ok(object)
}

/// The tables of a trace.
pub(crate) fn trace(trace: Trace) -> Result<Object, JsValue> {
    let found = TraceTables::from(trace);
    tables([
        ("flows", found.flows),
        ("variables", found.variables),
        ("links", found.links),
        ("drops", found.drops),
        ("packets", found.packets),
        ("held", found.held),
        ("frames", found.frames),
    ])
}

fn columns(table: Table) -> Result<Object, JsValue> {
    let object = Object::new();
    for (name, column) in table.columns {
        let values: JsValue = match column {
            Column::Floats(values) => Float64Array::from(values.as_slice()).into(),
            Column::Counts(values) => {
                let values: Vec<f64> = values.into_iter().map(|count| count as f64).collect();
                Float64Array::from(values.as_slice()).into()
            }
            Column::Seeds(values) => BigUint64Array::from(values.as_slice()).into(),
            Column::Truths(values) => {
                let values: Vec<u8> = values.into_iter().map(u8::from).collect();
                Uint8Array::from(values.as_slice()).into()
            }
            Column::Words(indices, words) => {
                let column = Object::new();
                set(&column, "indices", Uint32Array::from(indices.as_slice()))?;
                set(&column, "words", texts(&words))?;
                column.into()
            }
            Column::Texts(values) => texts(&values).into(),
        };
        set(&object, &name, values)?;
    }
    Ok(object)
}

pub(crate) fn texts(values: &[String]) -> Array {
    values.iter().map(JsValue::from).collect()
}
