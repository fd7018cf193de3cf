// What the page's words mean, each in a sentence with the document that defines it.

export interface Word {
  meaning: string;
  source: string;
}

export const TERMS: Record<string, Word> = {
  state: { meaning: "What a controller is doing at a moment, by its name in the document that specifies it.", source: "docs/reference/glossary.md" },
  "congestion window": {
    meaning: "The most bytes that may be in flight: the sender waits for acknowledgements when it is reached.",
    source: "RFC 9002 section 7.2",
  },
  "bytes in flight": { meaning: "What was sent and neither acknowledged nor declared lost.", source: "RFC 9002 section 2" },
  "latest RTT": {
    meaning: "The time from sending a packet to its acknowledgement: propagation, queues, jitter, and the receiver's delay.",
    source: "RFC 9002 section 5.1",
  },
  "smoothed RTT": { meaning: "The average of the samples of the round-trip time, in which each new one counts an eighth.", source: "RFC 9002 section 5.3" },
  "base RTT": { meaning: "The smallest round-trip time of the trial: close to what the path takes without a queue.", source: "RFC 9002 section 5.2" },
  "pacing rate": { meaning: "The rate at which the sender spaces its packets, so that they do not leave as bursts.", source: "RFC 9002 section 7.7" },
  "delivery rate": { meaning: "What was acknowledged per time, measured over about a round trip.", source: "draft-ietf-ccwg-bbr-06 section 4.1" },
  capacity: { meaning: "What the link can carry at this moment.", source: "docs/reference/scenarios.md" },
  "queue delay": { meaning: "How long a packet that arrives at the link now waits before it is transmitted.", source: "RFC 8289 section 1" },
  buffer: {
    meaning: "How much may wait at the link: as bytes, packets, the time that the link needs to send it, or in bandwidth-delay products.",
    source: "docs/reference/scenarios.md",
  },
  "random loss": {
    meaning: "Packets that the path loses by chance, however empty its queue is: a radio does so.",
    source: "docs/reference/models.md",
  },
  drop: { meaning: "A packet that the queue had no room for, or that its discipline dropped to signal congestion.", source: "RFC 7567 section 2" },
  "ECN mark": { meaning: "A packet that the queue has marked in the place of dropping it, to signal congestion.", source: "RFC 3168 section 5" },
  jitter: {
    meaning: "A delay of packets that this sender's queue does not cause; a packet that does not overtake waits for those before it.",
    source: "docs/reference/models.md",
  },
  medium: {
    meaning: "What both directions of the hop share: they take turns, or contend with neighbours as stations of Wi-Fi do.",
    source: "docs/reference/wifi.md",
  },
  airtime: {
    meaning: "Whose the time of the medium was, frames with their acknowledgements; several at once collide, or do not hear each other.",
    source: "docs/reference/wifi.md",
  },
  hosts: {
    meaning: "All flows have hosts that read all that has arrived before an answer, and send in bundles whose size follows the pacing rate.",
    source: "docs/reference/scenarios.md",
  },
  encoder: { meaning: "The rate at which the encoder of a call makes its frames.", source: "docs/reference/metrics.md" },
  "what it is told": { meaning: "The rate that congestion control gives to the encoders of a call, at the time of a frame.", source: "docs/reference/metrics.md" },
  "frame delay": { meaning: "The time from when a frame of the call was due to be sent until all of it had arrived.", source: "docs/reference/results.md" },
  deadline: { meaning: "How late a frame may come and still be shown; later ones stutter.", source: "docs/reference/scenarios.md" },
  floor: { meaning: "The least time that physics allows this transfer on this path: no controller can do better.", source: "docs/reference/glossary.md" },
  target: { meaning: "The bound that a criterion of the scenario sets.", source: "draft-huitema-ccwg-c4-test" },
  seed: { meaning: "The number that all random draws of a trial come from; the same seed gives the same trial, byte by byte.", source: "docs/reference/glossary.md" },
  "trace hash": { meaning: "A fingerprint of every arrival of the trial: the same on every machine and in every browser.", source: "docs/reference/glossary.md" },
  "bandwidth-delay product": { meaning: "Rate times round-trip time: what is in flight when the link is busy and nothing queues.", source: "docs/reference/glossary.md" },
  // Variables that controllers report in their traces.
  ssthresh: { meaning: "The window at which slow start ends.", source: "RFC 9002 section 7.3.1" },
  w_max: { meaning: "The window before the last reduction, which CUBIC's curve returns to.", source: "RFC 9438 section 4.1.2" },
  k: { meaning: "The seconds that CUBIC's curve takes from a reduction back to w_max.", source: "RFC 9438 section 4.2" },
  w_est: { meaning: "The window that Reno would have; CUBIC is never slower.", source: "RFC 9438 section 4.3" },
  max_bw: { meaning: "The largest delivery rate of the last two cycles of ProbeBW.", source: "draft-ietf-ccwg-bbr-06 section 5.5.2" },
  bw: { meaning: "The bandwidth that BBR uses: max_bw, bounded after losses.", source: "draft-ietf-ccwg-bbr-06 section 5.5.10.3" },
  min_rtt: { meaning: "BBR's estimate of the round-trip time without a queue.", source: "draft-ietf-ccwg-bbr-06 section 5.5.7" },
  bdp: { meaning: "The estimated bandwidth times the estimated round-trip time.", source: "draft-ietf-ccwg-bbr-06 section 5.6.4.2" },
  inflight_hi: { meaning: "The most in flight that has not brought too many losses: inflight_longterm of the draft.", source: "draft-ietf-ccwg-bbr-06 section 2.9" },
  inflight_lo: { meaning: "The most in flight since the last loss: inflight_shortterm of the draft.", source: "draft-ietf-ccwg-bbr-06 section 2.9" },
  extra_acked: { meaning: "How far acknowledgements run ahead of the bandwidth when the path aggregates them.", source: "draft-ietf-ccwg-bbr-06 section 5.5.9" },
  btl_bw: { meaning: "The largest delivery rate of the last ten round trips.", source: "draft-cardwell-iccrg-bbr-congestion-control-00 section 4.1.1.5" },
  rtprop: { meaning: "The smallest round-trip time of the last ten seconds.", source: "draft-cardwell-iccrg-bbr-congestion-control-00 section 4.1.2" },
  pacing_gain: { meaning: "Pacing rate over estimated bandwidth: above 1 it probes, below it drains.", source: "draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.1" },
  cwnd_gain: { meaning: "Window over the estimated bandwidth-delay product.", source: "draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.3.2" },
  alpha: { meaning: "In C4 the coefficient between nominal rate and sending rate, in Prague the smoothed share of marks.", source: 'draft-huitema-ccwg-c4-spec-04, "Setting pacing rate, congestion window and quantum"' },
  nominal_rate: { meaning: "The rate that C4 believes the path has for it.", source: 'draft-huitema-ccwg-c4-spec-04, "Initial state"' },
  nominal_max_rtt: { meaning: "The round-trip time that C4 expects at most, jitter included: its window is the nominal rate times this.", source: 'draft-huitema-ccwg-c4-spec-04, "Nominal max RTT"' },
  running_min_rtt: { meaning: "The smallest round-trip time that C4 has seen lately.", source: 'draft-huitema-ccwg-c4-spec-04, "Detecting Excessive Delays"' },
  delay_threshold: { meaning: "The delay above which C4 takes delay for congestion.", source: 'draft-huitema-ccwg-c4-spec-04, "Detecting Excessive Delays"' },
  delay_excess: { meaning: "How much the delay exceeds that threshold.", source: 'draft-huitema-ccwg-c4-spec-04, "Detecting Excessive Delays"' },
  loss_ewma: { meaning: "The smoothed share of lost packets.", source: 'draft-huitema-ccwg-c4-spec-04, "Detecting Excessive Losses"' },
  ecn_alpha: { meaning: "The smoothed share of marked packets.", source: 'draft-huitema-ccwg-c4-spec-04, "Detecting Excessive CE Marks"' },
};

export function wordOf(term: string): Word | null {
  return Object.hasOwn(TERMS, term) ? (TERMS[term] as Word) : null;
}
