// Lessons on Wi-Fi, on losses without congestion, and on calls.

import { flow, type Lesson, path, setupOf } from "./lesson";

const WIFI = 'jitter = { model = "wifi", mean = "7 ms" }';
const ten = 'download = "10 MB"';

export const JITTER: Lesson = {
  id: "jitter",
  title: "Why Wi-Fi jitter looks like a queue",
  question: "A CUBIC download over a steady path of 10 ms, then over the same path with the jitter of bad Wi-Fi. The round-trip time more than doubles. Is that the queue?",
  choices: ["Yes: packets wait longer in the queue", "No: the queue is even shorter"],
  right: 1,
  runs: [
    ["steady", setupOf("jitter", "A steady path", path("20 Mbps", "10 ms", "100 ms") + flow("main", "cubic", ten))],
    ["Wi-Fi", setupOf("jitter", "The same path with the jitter of Wi-Fi", path("20 Mbps", "10 ms", "100 ms", WIFI) + flow("main", "cubic", ten))],
  ],
  figures: [
    { name: "mean RTT", column: "mean_rtt_s", unit: "s" },
    { name: "mean wait in queues", column: "mean_queue_delay_s", unit: "s" },
    { name: "mean delay by jitter", column: "mean_jitter_s", unit: "s" },
    { name: "completed after", column: "completion_s", unit: "s" },
  ],
  after:
    "A sender sees one number, the round-trip time, and it rises in both cases. On the steady path it rises since the window fills the queue. On Wi-Fi a packet is held back while the radio is busy, and all that follow wait behind it, since they stay in order: they come out together. A controller that takes every rise for a queue slows down for nothing; one that takes the least round-trip time for the truth has too small a window.",
  look: "Packets held back by jitter, above the queue delay.",
  source: "models.md; draft-huitema-ccwg-c4-spec-04",
};

export const C4_AND_JITTER: Lesson = {
  id: "c4-and-jitter",
  title: "How C4 tells them apart",
  question: "BBR derives its window from the least round-trip time, C4 from the largest that is not congestion. On the same Wi-Fi, which download is faster?",
  choices: ["BBR", "C4", "They are alike"],
  right: 1,
  runs: [
    ["BBR", setupOf("c4-and-jitter", "BBR on Wi-Fi", path("20 Mbps", "10 ms", "100 ms", WIFI) + flow("main", "bbr", ten))],
    ["C4", setupOf("c4-and-jitter", "C4 on Wi-Fi", path("20 Mbps", "10 ms", "100 ms", WIFI) + flow("main", "c4", ten))],
  ],
  figures: [
    { name: "completed after", column: "completion_s", unit: "s" },
    { name: "mean rate", column: "mean_rate_bps", unit: "bps" },
    { name: "mean wait in queues", column: "mean_queue_delay_s", unit: "s" },
  ],
  after:
    "BBR's window is about twice its rate times the least round-trip time. The radio holds packets back for longer than that lasts, and meanwhile BBR may send nothing: the link stands idle, and the rate that it measures is low, so it stays low. C4 remembers the largest round-trip time of eras in which it sent no more than its rate, the nominal max RTT: what that contains is jitter and no queue of its own. Its window is its rate times that, large enough to bridge the gaps. The price shows in the queue, which is not empty.",
  look: "Window and bytes in flight: BBR's reach the window again and again, and the delivery rate stops.",
  source: 'draft-ietf-ccwg-bbr-06 section 5.6.1; draft-huitema-ccwg-c4-spec-04, "Nominal max RTT"',
};

const CALL = (queue: string) =>
  path("10 Mbps", "40 ms", "400 ms", `queue = { model = "${queue}" }`) +
  flow("call", "c4", 'call = "10 s"') +
  flow("download", "cubic", 'download = "20 MB"', 'start = "2 s"\nbackground = true');

export const CALL_STUTTERS: Lesson = {
  id: "call",
  title: "Why the call stutters",
  question: "A call with C4, and after two seconds a CUBIC download next to it. The queue has room for 400 ms. How many of the 500 frames of audio come too late, and what would fair queueing change?",
  choices: ["Many; fair queueing changes little", "Many; with fair queueing almost none", "Almost none in both"],
  right: 1,
  runs: [
    ["drop-tail", setupOf("call", "A call and a download, drop-tail", CALL("drop-tail"))],
    ["FQ-CoDel", setupOf("call", "A call and a download, FQ-CoDel", CALL("fq-codel"))],
  ],
  figures: [
    { name: "late frames of audio", column: "late", unit: "packets", flow: "call", stream: "audio" },
    { name: "95 % of audio within", column: "p95_delay_s", unit: "s", flow: "call", stream: "audio" },
    { name: "mean wait of the call's packets", column: "mean_queue_delay_s", unit: "s", flow: "call" },
  ],
  after:
    "The call sends little, and still its packets stand in the queue that the download has filled: whatever its own controller does, they wait as long as the others. Fair queueing gives each flow a queue of its own and serves them in turn, so that the call waits only for its own packets, and CoDel keeps the download's queue short as well.",
  look: "The frames of the call before and after the second at which the download begins.",
  source: "RFC 8290 section 4.2",
};

const LOSSY = path("50 Mbps", "40 ms", "1 bdp", 'loss = "0.5 %"');

export const RANDOM_LOSS: Lesson = {
  id: "random-loss",
  title: "Losses without congestion",
  question: "A link loses one packet of two hundred at random, whatever one sends. What does that cost CUBIC, and what C4?",
  choices: ["Both lose about half of a percent of their rate", "CUBIC keeps a small part of the rate, C4 more than half", "Both keep a small part of the rate"],
  right: 1,
  runs: [
    ["CUBIC", setupOf("random-loss", "CUBIC with random losses", LOSSY + flow("main", "cubic", ten))],
    ["C4", setupOf("random-loss", "C4 with random losses", LOSSY + flow("main", "c4", ten))],
  ],
  figures: [
    { name: "mean rate", column: "mean_rate_bps", unit: "bps" },
    { name: "packets lost", column: "packets_lost", unit: "packets" },
    { name: "completed after", column: "completion_s", unit: "s" },
  ],
  after:
    "CUBIC takes each loss for a full queue and reduces its window to seven tenths, many times before the window could grow to what the path carries. C4 answers a share of losses above a threshold, not a loss: half a percent says little about a queue.",
  look: "The capacity, and how far below it both deliver.",
  source: 'RFC 9438 section 4.6; draft-huitema-ccwg-c4-spec-04, "Detecting Excessive Losses"',
};
