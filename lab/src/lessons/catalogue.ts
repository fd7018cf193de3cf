// All lessons, in the order in which they build on each other.

import type { Lesson } from "./lesson";
import { BBR_AND_CUBIC, RTT_UNFAIRNESS } from "./sharing";
import { BUFFERBLOAT, MARKS, SLOW_START } from "./start";
import { C4_AND_JITTER, CALL_STUTTERS, JITTER, RANDOM_LOSS } from "./wifi";

export const LESSONS: Lesson[] = [
  SLOW_START,
  BUFFERBLOAT,
  MARKS,
  BBR_AND_CUBIC,
  RTT_UNFAIRNESS,
  RANDOM_LOSS,
  JITTER,
  C4_AND_JITTER,
  CALL_STUTTERS,
];
