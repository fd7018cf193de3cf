//! What series and traces see of endpoints.

use super::Network;
use crate::scenario::hop::LinkId;
use thalweg_transport::Role;

impl Network {
    /// One side of a connection has been called: if it sends the data, the series have what it saw.
    #[inline(always)] // in every arrival
    pub(super) fn note_sender(&mut self, index: usize, side: Role) {
        if self.series.is_some() {
            self.sample_sender(index, side);
        }
    }

    #[inline(never)]
    fn sample_sender(&mut self, index: usize, side: Role) {
        let Some(series) = &mut self.series else {
            return;
        };
        let connection = &mut self.connections[index];
        if !connection.sends(side) {
            return;
        }
        let flow = connection.flow;
        let endpoint = connection.endpoint(side);
        let counters = endpoint.counters();
        let before = std::mem::replace(&mut self.noted[index][side.index()], counters);
        series.on_sender(
            self.now,
            flow,
            (&before, &counters),
            endpoint.path().latest_rtt,
        );
    }

    /// A trace samples what an endpoint has done, and the link that it has sent into.
    pub(super) fn sample(
        &mut self,
        index: usize,
        side: Role,
        link: LinkId,
        sent: bool,
        event: &'static str,
    ) {
        let Some(recorder) = &mut self.recorder else {
            return;
        };
        let connection = &mut self.connections[index];
        if connection.sends(side) {
            let event = if sent && event == "timer" {
                "sent"
            } else {
                event
            };
            let end = (index, side);
            recorder.sample_flow(self.now, end, event, connection.endpoint(side));
        }
        if sent {
            recorder.sample_link(self.now, link.index(), &mut self.links[link.index()]);
        }
    }
}
