//! The request of a client and the answer of a server: one JSON document each, on the first stream.
//!
//! The client opens stream 0, writes a [`Request`] and ends it. Data follows on a unidirectional stream of its
//! sender; a media call opens one for each group of video. At the end, the server writes an [`Answer`] to
//! stream 0 and the client closes the connection.

use super::media::CallReport;
use super::report::SenderReport;
use noq_proto::VarInt;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Duration};

/// Largest accepted document.
pub(super) const MOST: usize = 1 << 16;
/// Application error codes of CONNECTION_CLOSE (RFC 9000 section 20.2): too slow, shutting down; 0 means no error.
pub(super) const SLOW: VarInt = VarInt::from_u32(1);
pub(super) const STOPPING: VarInt = VarInt::from_u32(2);
/// Longest media call.
pub const LONGEST_CALL: Duration = Duration::from_secs(3600);

/// The workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// This many bytes from the server.
    Download(Bytes),
    /// This many bytes to the server.
    Upload(Bytes),
    /// Audio and video in both directions, for this time.
    Call(Duration),
}

/// The request of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    pub(super) workload: Workload,
    /// The controller of the server, if the client may choose it.
    pub(super) controller: Option<String>,
}

/// The final answer of the server.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Answer {
    /// The request is refused.
    Refused(String),
    /// The request is done.
    Done(Box<Outcome>),
}

/// The server's statistics at the end.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Outcome {
    /// Bytes that it received on streams of data.
    pub(super) received: u64,
    /// Statistics of the local sender.
    pub(super) sender: SenderReport,
    /// Reception of a call.
    pub(super) call: Option<CallReport>,
}

impl Request {
    /// Reads a request; refuses unsupported ones.
    pub(super) fn read(text: &[u8]) -> Result<Self, String> {
        let request: Request = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        match request.workload {
            Workload::Call(length) if length > LONGEST_CALL => {
                Err(format!("a call lasts at most {LONGEST_CALL}"))
            }
            _ => Ok(request),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_back_and_anything_else_is_refused() {
        for workload in [
            Workload::Download(Bytes::new(10_000_000)),
            Workload::Upload(Bytes::new(0)),
            Workload::Call(Duration::from_secs(10)),
        ] {
            let request = Request {
                workload,
                controller: Some("c4:rtt_floor=off".into()),
            };
            let text = serde_json::to_vec(&request).unwrap();
            assert_eq!(Request::read(&text), Ok(request));
        }
        for wrong in [
            "",
            "{}",
            "GET / HTTP/1.1",
            r#"{"workload":{"download":"-1 B"},"controller":null}"#,
            r#"{"workload":{"steal":"1 B"},"controller":null}"#,
            r#"{"workload":{"call":"3601 s"},"controller":null}"#,
            r#"{"workload":{"download":"1 B"},"controller":null,"more":1}"#,
        ] {
            assert!(Request::read(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
