//! Events and the path as records of numbers: their [fields](super::fields) under the same names, in seconds, bytes and bits
//! per second; NaN where there is no value.
//!
//! A name with a question mark is of a truth value, 0 or 1. `snapshot.sent` is `sent` of the event's `snapshot`.

use super::Handler;
use crate::event::{
    Ack, EcnCounts, Lost, RateSample, RttSample, Sent, Snapshot, SpuriousLoss, Timeout,
};
use crate::report::Report;
use crate::{Context, fields};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// What can be written as numbers.
pub trait Numbers {
    /// How many there are.
    const WIDTH: usize;

    /// Adds their names to `names`; `name` is the name of the whole, empty for an event.
    fn names(name: &str, names: &mut Vec<String>);

    /// Passes them on in their order.
    fn write(&self, to: &mut impl FnMut(f64));
}

/// A type of one number.
macro_rules! number {
    ($($type:ty: $mark:literal, $read:expr;)*) => { $(
        impl Numbers for $type {
            const WIDTH: usize = 1;

            fn names(name: &str, names: &mut Vec<String>) {
                names.push(format!("{name}{}", $mark));
            }

            fn write(&self, to: &mut impl FnMut(f64)) {
                let read: fn($type) -> f64 = $read;
                to(read(*self));
            }
        }
    )* };
}

number! {
    f64: "", |number| number;
    u32: "", f64::from;
    u64: "", |number| number as f64;
    bool: "?", |truth| f64::from(u8::from(truth));
    Bytes: "", |size| size.as_u64() as f64;
    Duration: "", Duration::as_secs_f64;
    Instant: "", Instant::as_secs_f64;
    Rate: "", |rate| rate.as_bits_per_sec() as f64;
}

impl<T: Numbers> Numbers for Option<T> {
    const WIDTH: usize = T::WIDTH;

    fn names(name: &str, names: &mut Vec<String>) {
        T::names(name, names);
    }

    fn write(&self, to: &mut impl FnMut(f64)) {
        match self {
            Some(value) => value.write(to),
            None => (0..T::WIDTH).for_each(|_| to(f64::NAN)),
        }
    }
}

/// The numbers of a record, one field after the other.
macro_rules! record {
    (($of:ty) [$($field:ident: $type:ty = $read:expr;)*]) => {
        impl Numbers for $of {
            const WIDTH: usize = 0 $(+ <$type as Numbers>::WIDTH)*;

            fn names(name: &str, names: &mut Vec<String>) {
                let dot = if name.is_empty() { "" } else { "." };
                $(<$type as Numbers>::names(&format!("{name}{dot}{}", stringify!($field)), names);)*
            }

            fn write(&self, to: &mut impl FnMut(f64)) {
                $(
                    let read: fn(&$of) -> $type = $read;
                    read(self).write(to);
                )*
            }
        }
    };
}

fields!(Path => record!(Context<'_>));
fields!(Ack => record!(Ack));
fields!(Snapshot => record!(Snapshot));
fields!(RateSample => record!(RateSample));
fields!(Lost => record!(Lost));
fields!(Sent => record!(Sent));
fields!(Timeout => record!(Timeout));
fields!(SpuriousLoss => record!(SpuriousLoss));
fields!(EcnCounts => record!(EcnCounts));
fields!(RttSample => record!(RttSample));
fields!(Report => record!(Report));

/// The names of the numbers of the path.
pub fn names_of_path() -> Vec<String> {
    let mut names = Vec::new();
    Context::names("", &mut names);
    names
}

/// The names of the numbers that a handler gets in addition to the path.
pub fn names_of_event(handler: Handler) -> Vec<String> {
    let mut names = Vec::new();
    let into = &mut names;
    match handler {
        Handler::Ack => Ack::names("", into),
        Handler::Lost => Lost::names("", into),
        Handler::Sent => Sent::names("", into),
        Handler::Timeout => Timeout::names("", into),
        Handler::SpuriousLoss => SpuriousLoss::names("", into),
        Handler::Ecn => EcnCounts::names("", into),
        Handler::Rtt => RttSample::names("", into),
        Handler::Seed => Bytes::names("window", into),
        Handler::Report => Report::names("", into),
        Handler::HandshakeRtt | Handler::AppLimited | Handler::IdleRestart | Handler::Observe => {}
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_as_many_numbers_as_names_whatever_is_missing() {
        let whole = RateSample {
            delivered: Bytes::new(3000),
            interval: Duration::from_millis(20),
            rate: Rate::from_bits_per_sec(1_200_000),
            app_limited: true,
        };
        let mut names = Vec::new();
        RateSample::names("rate", &mut names);
        assert_eq!(
            names,
            [
                "rate.delivered",
                "rate.interval",
                "rate.rate",
                "rate.app_limited?"
            ]
        );
        let numbers = |sample: Option<RateSample>| {
            let mut numbers = Vec::new();
            sample.write(&mut |number| numbers.push(number));
            numbers
        };
        assert_eq!(numbers(Some(whole)), [3000.0, 0.02, 1.2e6, 1.0]);
        let missing = numbers(None);
        assert!(missing.len() == 4 && missing.iter().all(|number| number.is_nan()));
        for handler in Handler::ALL {
            assert!(names_of_event(handler).len() < 32, "{}", handler.name());
        }
        assert_eq!(names_of_event(Handler::Ack).len(), Ack::WIDTH);
        assert_eq!(names_of_path().len(), Context::WIDTH);
    }
}
