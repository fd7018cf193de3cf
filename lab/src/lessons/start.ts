// Lessons on how flows begin, and on what stands in queues.

import { flow, type Lesson, path, setupOf } from "./lesson";

const START = path("20 Mbps", "80 ms", "1 bdp");
const download = 'download = "5 MB"';

export const SLOW_START: Lesson = {
  id: "slow-start",
  title: "Slow start and its exit",
  question:
    "In slow start the window doubles in each round trip. The classic form goes on until packets are lost; HyStart++ leaves when the delay rises. Which loses fewer packets?",
  choices: ["The classic form", "HyStart++", "Both lose the same"],
  right: 1,
  runs: [
    ["classic", setupOf("slow-start", "Slow start until loss", START + flow("main", "reno:start=classic", download))],
    ["HyStart++", setupOf("slow-start", "Slow start with HyStart++", START + flow("main", "reno:start=hystart", download))],
  ],
  figures: [
    { name: "packets lost", column: "packets_lost", unit: "packets" },
    { name: "completed after", column: "completion_s", unit: "s" },
  ],
  after:
    "A window that doubles is twice too large one round trip after it was right. The classic form learns this from the losses, a full round trip late: by then it has sent a whole window too much. HyStart++ sees the round-trip time rise while the queue fills and goes on more slowly. Here the queue of one bandwidth-delay product fills so fast that it still loses many, only fewer; the transfer ends at nearly the same time.",
  look: "The window in the first second, and the crosses of drops on the queue.",
  source: "RFC 9002 section 7.3.1; RFC 9406 section 4.2",
};

export const BUFFERBLOAT: Lesson = {
  id: "bufferbloat",
  title: "Bufferbloat",
  question: "The same CUBIC download, once through a buffer of one bandwidth-delay product and once through sixteen. What does the larger buffer change?",
  choices: ["The download is much faster", "The round-trip time is much longer", "Both"],
  right: 1,
  runs: [
    ["1 bdp", setupOf("bufferbloat", "A buffer of 1 bdp", path("10 Mbps", "40 ms", "1 bdp") + flow("main", "cubic:start=classic", 'download = "20 MB"'))],
    ["16 bdp", setupOf("bufferbloat", "A buffer of 16 bdp", path("10 Mbps", "40 ms", "16 bdp") + flow("main", "cubic:start=classic", 'download = "20 MB"'))],
  ],
  figures: [
    { name: "completed after", column: "completion_s", unit: "s" },
    { name: "mean RTT", column: "mean_rtt_s", unit: "s" },
    { name: "mean wait in queues", column: "mean_queue_delay_s", unit: "s" },
  ],
  after:
    "A controller that waits for losses fills whatever buffer there is. One bandwidth-delay product is enough to keep the link busy while the window is reduced; everything more is a queue that never empties, and every other packet on the link waits in it too.",
  look: "The queue: after each loss it falls to a third of the buffer with the small one, and stays above 400 ms with the large one.",
  source: "RFC 7567 section 2",
};

const CODED = (queue: string) => path("20 Mbps", "40 ms", "4 bdp", `queue = { model = "${queue}" }`) + flow("main", "cubic", 'download = "20 MB"');

export const MARKS: Lesson = {
  id: "marks",
  title: "What a marking queue does",
  question: "The same path and the same CUBIC: first with a queue that only drops what does not fit, then with CoDel, which marks packets when they have waited too long. What happens to the losses and to the delay?",
  choices: ["Fewer losses, the same delay", "No losses, and a short delay", "More losses, and a short delay"],
  right: 1,
  runs: [
    ["drop-tail", setupOf("marks", "CUBIC behind drop-tail", CODED("drop-tail"))],
    ["CoDel", setupOf("marks", "CUBIC behind CoDel", CODED("codel"))],
  ],
  figures: [
    { name: "packets lost", column: "packets_lost", unit: "packets" },
    { name: "packets marked", column: "packets_marked", unit: "packets" },
    { name: "mean wait in queues", column: "mean_queue_delay_s", unit: "s" },
    { name: "mean rate", column: "mean_rate_bps", unit: "bps" },
  ],
  after:
    "CoDel looks at how long packets wait, not at how many there are. When even the shortest wait of 100 ms was above 5 ms, a queue stands that helps nobody, and it marks a packet; the receiver reports the mark and CUBIC reduces its window as after a loss, with nothing to send again. The price is a little of the rate: the queue is sometimes empty after a reduction.",
  look: "The queue delay, and the steps of the packets marked.",
  source: "RFC 8289 section 1; RFC 3168 section 5",
};
