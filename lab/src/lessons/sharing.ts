// Lessons on flows that share a link.

import { flow, type Lesson, path, setupOf } from "./lesson";

const PAIR = (buffer: string) =>
  path("20 Mbps", "40 ms", buffer) + flow("cubic", "cubic", 'download = "60 MB"') + flow("bbr1", "bbr1", 'download = "60 MB"');

export const BBR_AND_CUBIC: Lesson = {
  id: "bbr-and-cubic",
  title: "Why BBR and CUBIC fight",
  question: "The first version of BBR and CUBIC share a link, once with a buffer of half a bandwidth-delay product and once of eight. Who gets more?",
  choices: ["BBR both times", "CUBIC both times", "BBR with the short buffer, CUBIC with the long one"],
  right: 2,
  runs: [
    ["0.5 bdp", setupOf("bbr-and-cubic", "CUBIC and BBRv1, a buffer of 0.5 bdp", PAIR("0.5 bdp"))],
    ["8 bdp", setupOf("bbr-and-cubic", "CUBIC and BBRv1, a buffer of 8 bdp", PAIR("8 bdp"))],
  ],
  figures: [
    { name: "share of CUBIC", column: "share", unit: "share", flow: "cubic" },
    { name: "share of BBRv1", column: "share", unit: "share", flow: "bbr1" },
    { name: "losses of BBRv1", column: "packets_lost", unit: "packets", flow: "bbr1" },
  ],
  after:
    "They listen to different signals. BBRv1 keeps about twice the bandwidth-delay product in flight and does not answer losses: in a short buffer its packets alone overflow it, and CUBIC, which reduces its window to 0.7 when it loses packets, gives way. In a long buffer CUBIC goes on until the buffer is full; BBRv1's bound of two bandwidth-delay products then is a small part of the queue, and so of the link.",
  look: "Bytes in flight of both flows: BBRv1's stay level, CUBIC's grow with the buffer.",
  source: "draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.3.2; RFC 9438 section 4.6",
};

const TWO = (far: string) =>
  `[[link]]\nname = "far"\nrate = "1 Gbps"\nrtt = "${far}"\n\n[[link]]\nname = "bottleneck"\nrate = "20 Mbps"\nrtt = "20 ms"\nbuffer = "80 ms"\n\n` +
  flow("near", "reno", 'download = "40 MB"', 'route = ["bottleneck"]') +
  flow("distant", "reno", 'download = "40 MB"', 'route = ["far", "bottleneck"]');

export const RTT_UNFAIRNESS: Lesson = {
  id: "rtt-unfairness",
  title: "RTT unfairness",
  question: "Two Reno downloads share a link. One has a round trip of 20 ms, the other of 21 ms, and in the second run of 160 ms. What share does the distant one get in the second run?",
  choices: ["About half", "Well below half", "Nothing"],
  right: 1,
  runs: [
    ["20 and 21 ms", setupOf("rtt-unfairness", "Two Reno flows, 20 and 21 ms", TWO("1 ms"))],
    ["20 and 160 ms", setupOf("rtt-unfairness", "Two Reno flows, 20 and 160 ms", TWO("140 ms"))],
  ],
  figures: [
    { name: "share of the near one", column: "share", unit: "share", flow: "near" },
    { name: "share of the distant one", column: "share", unit: "share", flow: "distant" },
  ],
  after:
    "Reno adds one packet to its window in each of its own round trips. The near flow has several of them while the distant one has one, so it grows faster, and it also sends a given window more often. The waiting time in the shared queue counts for both, which makes the round trips more alike than the paths. With nearly equal paths the shares still differ in a single trial: who loses packets at the start is chance, and the strip shows how much that matters.",
  look: "The windows: two saws with teeth of different slope.",
  source: "RFC 5681 section 3.1",
};
