//! Columns for JavaScript: in JSON the name of each with the kind, address and length of its typed array.
//!
//! Numbers and counts are a `Float64Array` (counts are exact to 2^53), seeds a `BigUint64Array`, truth values a
//! `Uint8Array` of 0 and 1. Distinct texts are a list; words are `{"indices": Uint32Array, "words": list}`.

use serde_json::{Value, json};
use thalweg_columns::{Column, Table};

/// The columns of an answer, which stay where they are as long as it stands.
#[derive(Default)]
pub(crate) struct Columns {
    pub(crate) kept: Vec<Column>,
}

impl Columns {
    /// Several tables by name: lists of a column's name and place, which have the order of an object's keys.
    pub(crate) fn tables<const N: usize>(&mut self, tables: [(&str, Table); N]) -> Value {
        let tables = tables.map(|(name, table)| {
            let columns = table.columns.into_iter();
            let places = columns.map(|(column, values)| json!([column, self.place(values)]));
            (name.to_owned(), places.collect::<Value>())
        });
        Value::Object(tables.into_iter().collect())
    }

    fn place(&mut self, column: Column) -> Value {
        let column = match column {
            Column::Counts(values) => {
                Column::Floats(values.into_iter().map(|count| count as f64).collect())
            }
            other => other,
        };
        let found = match &column {
            Column::Floats(values) => array("Float64Array", values),
            Column::Seeds(values) => array("BigUint64Array", values),
            Column::Truths(values) => array("Uint8Array", values),
            Column::Words(indices, words) => {
                json!({"indices": array("Uint32Array", indices), "words": words})
            }
            Column::Texts(values) => json!(values),
            Column::Counts(_) => unreachable!("counts are numbers here"),
        };
        self.kept.push(column);
        found
    }
}

fn array<T>(kind: &str, values: &[T]) -> Value {
    json!({"kind": kind, "at": values.as_ptr() as usize, "length": values.len()})
}
