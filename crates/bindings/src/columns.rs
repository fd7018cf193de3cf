//! Columns for Python, one line of code for each.

use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;
use thalweg_units::{Duration, Rate};

/// A table that grows by columns; each is computed from the same rows.
pub(crate) struct Columns<'py, 'a, Row> {
    rows: &'a [Row],
    table: Bound<'py, PyDict>,
}

impl<'py, 'a, Row> Columns<'py, 'a, Row> {
    pub(crate) fn new(py: Python<'py>, rows: &'a [Row]) -> Self {
        let table = PyDict::new(py);
        Columns { rows, table }
    }

    /// A column of numbers or truth values.
    pub(crate) fn number<T: Element>(
        self,
        name: &str,
        value: impl Fn(&'a Row) -> T,
    ) -> PyResult<Self> {
        let values: Vec<T> = self.rows.iter().map(value).collect();
        let column = PyArray1::from_vec(self.table.py(), values);
        self.table.set_item(name, column)?;
        Ok(self)
    }

    /// A column of counts, signed in Python so that differences may be negative.
    pub(crate) fn count(self, name: &str, value: impl Fn(&'a Row) -> u64) -> PyResult<Self> {
        self.number(name, |row| i64::try_from(value(row)).unwrap_or(i64::MAX))
    }

    /// A column of a few repeated words: indices into a list, and the list. A text for each row would take longer
    /// than the trial.
    pub(crate) fn word(self, name: &str, value: impl Fn(&'a Row) -> &'a str) -> PyResult<Self> {
        let py = self.table.py();
        let (mut words, mut known, mut last) = (Vec::<&str>::new(), HashMap::new(), 0);
        let mut number = |word: &'a str| {
            if words.get(last) != Some(&word) {
                last = *known.entry(word).or_insert(words.len());
                if last == words.len() {
                    words.push(word);
                }
            }
            last as u32
        };
        let numbers: Vec<u32> = self.rows.iter().map(|row| number(value(row))).collect();
        self.table
            .set_item(name, (PyArray1::from_vec(py, numbers), words))?;
        Ok(self)
    }

    /// A column of distinct texts.
    pub(crate) fn text(self, name: &str, value: impl Fn(&'a Row) -> String) -> PyResult<Self> {
        let texts: Vec<String> = self.rows.iter().map(value).collect();
        self.table.set_item(name, texts)?;
        Ok(self)
    }

    pub(crate) fn finish(self) -> Py<PyDict> {
        self.table.unbind()
    }
}

/// Seconds; NaN if the event never happened.
pub(crate) fn seconds(time: impl Into<Option<Duration>>) -> f64 {
    time.into().map_or(f64::NAN, Duration::as_secs_f64)
}

/// Bits per second; NaN if there is no value.
pub(crate) fn bits_per_second(rate: impl Into<Option<Rate>>) -> f64 {
    rate.into()
        .map_or(f64::NAN, |rate| rate.as_bits_per_sec() as f64)
}
