//! A table that grows by columns.

use std::borrow::Cow;
use std::collections::HashMap;
use thalweg_units::{Duration, Rate};

/// The values of a column, one for each row.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Real numbers.
    Floats(Vec<f64>),
    /// Counts, signed so that differences may be negative.
    Counts(Vec<i64>),
    /// Numbers that need all 64 bits: seeds.
    Seeds(Vec<u64>),
    /// Truth values.
    Truths(Vec<bool>),
    /// A few repeated words: the index of each, and the words. A text for each row would take longer than the trial.
    Words(Vec<u32>, Vec<String>),
    /// Distinct texts.
    Texts(Vec<String>),
}

/// Columns by their names, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Name and values of each column.
    pub columns: Vec<(Cow<'static, str>, Column)>,
}

/// A table under construction; each column is computed from the same rows.
pub(crate) struct Columns<'a, Row> {
    rows: &'a [Row],
    table: Table,
}

impl<'a, Row> Columns<'a, Row> {
    pub(crate) fn new(rows: &'a [Row]) -> Self {
        let table = Table::default();
        Columns { rows, table }
    }

    fn push<T>(
        mut self,
        name: &'static str,
        kind: impl FnOnce(Vec<T>) -> Column,
        value: impl Fn(&'a Row) -> T,
    ) -> Self {
        let values = self.rows.iter().map(value).collect();
        self.table.columns.push((name.into(), kind(values)));
        self
    }

    pub(crate) fn float(self, name: &'static str, value: impl Fn(&'a Row) -> f64) -> Self {
        self.push(name, Column::Floats, value)
    }

    /// Further columns, whose names the rows have.
    pub(crate) fn floats(mut self, columns: Vec<(String, Vec<f64>)>) -> Self {
        let columns = columns.into_iter();
        let columns = columns.map(|(name, values)| (name.into(), Column::Floats(values)));
        self.table.columns.extend(columns);
        self
    }

    pub(crate) fn seconds<T: Into<Option<Duration>>>(
        self,
        name: &'static str,
        value: impl Fn(&'a Row) -> T,
    ) -> Self {
        self.float(name, |row| {
            value(row).into().map_or(f64::NAN, Duration::as_secs_f64)
        })
    }

    pub(crate) fn rate<T: Into<Option<Rate>>>(
        self,
        name: &'static str,
        value: impl Fn(&'a Row) -> T,
    ) -> Self {
        self.float(name, |row| {
            let rate: Option<Rate> = value(row).into();
            rate.map_or(f64::NAN, |rate| rate.as_bits_per_sec() as f64)
        })
    }

    pub(crate) fn count(self, name: &'static str, value: impl Fn(&'a Row) -> u64) -> Self {
        self.push(name, Column::Counts, |row| {
            i64::try_from(value(row)).unwrap_or(i64::MAX)
        })
    }

    pub(crate) fn seed(self, name: &'static str, value: impl Fn(&'a Row) -> u64) -> Self {
        self.push(name, Column::Seeds, value)
    }

    pub(crate) fn truth(self, name: &'static str, value: impl Fn(&'a Row) -> bool) -> Self {
        self.push(name, Column::Truths, value)
    }

    pub(crate) fn text(self, name: &'static str, value: impl Fn(&'a Row) -> String) -> Self {
        self.push(name, Column::Texts, value)
    }

    pub(crate) fn word(self, name: &'static str, value: impl Fn(&'a Row) -> &'a str) -> Self {
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
        let numbers = self.rows.iter().map(|row| number(value(row))).collect();
        let words = words.into_iter().map(str::to_owned).collect();
        let mut table = self.table;
        table
            .columns
            .push((name.into(), Column::Words(numbers, words)));
        Columns { table, ..self }
    }

    pub(crate) fn finish(self) -> Table {
        self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_kept_once_however_often_rows_have_it() {
        let rows = ["up", "down", "down", "up"];
        let table = Columns::new(&rows).word("link", |row| row).finish();
        let words = vec!["up".to_owned(), "down".to_owned()];
        assert_eq!(
            table.columns,
            [("link".into(), Column::Words(vec![0, 1, 1, 0], words))]
        );
    }

    #[test]
    fn what_never_happened_is_nan_and_the_rest_is_in_seconds() {
        let rows = [Some(Duration::from_millis(1_500)), None];
        let table = Columns::new(&rows).seconds("end_s", |row| *row).finish();
        let Column::Floats(values) = &table.columns[0].1 else {
            panic!("seconds are real numbers");
        };
        assert_eq!(values[0], 1.5);
        assert!(values[1].is_nan());
    }
}
