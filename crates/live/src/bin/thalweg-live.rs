//! Serves one request in real time: `thalweg-live REQUEST ANSWER`, the numbers of two open descriptors.
//! For tests and other programs; the Python package does the same in its own process.

use std::process::ExitCode;

fn main() -> ExitCode {
    let numbers: Vec<i32> = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    let [request, answer] = numbers[..] else {
        eprintln!("error: expected the numbers of two descriptors: request and answer");
        return ExitCode::from(2);
    };
    match thalweg_live::serve(
        request,
        answer,
        &thalweg_reference::registry(),
        &|payload, _| Err(payload),
    ) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(70)
        }
    }
}
