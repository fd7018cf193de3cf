//! Threads that stay between steps and share the turns of a step with the thread that calls.
//!
//! # Model
//! Each thread has a share of the turns, the same in every step, so that the state of a trial stays in the caches of one
//! core. A thread that is done with its share takes turns that others have not begun, from the end of their shares. A step
//! is over when all its turns are: nobody waits for a thread that the machine has not woken yet.
//!
//! A thread that waits stays on its processor for [`PATIENCE`] before it sleeps: to wake up takes as long as the steps of
//! several trials.
//!
//! # Limits
//! One step at a time.

use std::hint::spin_loop;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Thread, current, park, yield_now};
use std::time::{Duration, Instant};

/// Longer than a small policy takes to decide for some trials. A policy that takes longer costs one wake-up a step.
const PATIENCE: Duration = Duration::from_micros(200);
/// Looks at the clock are a little apart.
const SPINS: u32 = 8;

/// What one thread does alone. It does not panic.
pub(super) trait Turn: Send + Sync + 'static {
    fn take(&self);
}

/// The turns of one step.
pub(super) struct Step<T> {
    turns: Vec<T>,
    taken: Vec<AtomicBool>,
    /// Turns that have not been finished.
    open: AtomicUsize,
    caller: Thread,
}

/// The threads, and what they are to do.
pub(super) struct Threads<T> {
    posted: Arc<Posted<T>>,
    helpers: Vec<Thread>,
}

/// Where threads find the next step.
struct Posted<T> {
    /// How many steps there have been.
    count: AtomicU64,
    step: Mutex<Option<Arc<Step<T>>>>,
    is_closed: AtomicBool,
}

impl<T: Turn> Step<T> {
    /// A step that this thread will call for.
    pub(super) fn new(turns: Vec<T>) -> Arc<Self> {
        Arc::new(Step {
            taken: turns.iter().map(|_| AtomicBool::new(true)).collect(),
            turns,
            open: AtomicUsize::new(0),
            caller: current(),
        })
    }

    pub(super) fn turns(&self) -> &[T] {
        &self.turns
    }

    fn open_all(&self) {
        self.open.store(self.turns.len(), Ordering::Release);
        for taken in &self.taken {
            taken.store(false, Ordering::Release);
        }
    }

    /// Takes turns until none is left: its own share from the front, the shares of others from the back.
    fn work(&self, share: usize, shares: usize) {
        let n = self.turns.len();
        let own = n * share / shares..n * (share + 1) / shares;
        for number in own.chain((0..n).rev()) {
            let taken = &self.taken[number];
            if taken.load(Ordering::Relaxed) || taken.swap(true, Ordering::AcqRel) {
                continue;
            }
            self.turns[number].take();
            if self.open.fetch_sub(1, Ordering::AcqRel) == 1 {
                self.caller.unpark();
            }
        }
    }
}

impl<T: Turn> Threads<T> {
    /// As many threads, this one among them.
    pub(super) fn new(threads: usize) -> io::Result<Self> {
        let posted = Arc::new(Posted {
            count: AtomicU64::new(0),
            step: Mutex::new(None),
            is_closed: AtomicBool::new(false),
        });
        let mut made = Threads {
            posted,
            helpers: Vec::new(),
        };
        for share in 1..threads {
            let posted = Arc::clone(&made.posted);
            let thread = Builder::new().name(format!("step-{share}"));
            let handle = thread.spawn(move || posted.serve(share, threads))?;
            made.helpers.push(handle.thread().clone());
        }
        Ok(made)
    }

    /// Has every turn of a step taken once.
    pub(super) fn run(&self, step: &Arc<Step<T>>) {
        step.open_all();
        if step.turns.len() > 1 {
            *self.posted.step() = Some(Arc::clone(step));
            self.posted.count.fetch_add(1, Ordering::Release);
            self.helpers.iter().for_each(Thread::unpark);
        }
        step.work(0, self.helpers.len() + 1);
        wait_until(|| step.open.load(Ordering::Acquire) == 0);
        *self.posted.step() = None;
    }
}

impl<T> Drop for Threads<T> {
    fn drop(&mut self) {
        self.posted.is_closed.store(true, Ordering::Release);
        self.helpers.iter().for_each(Thread::unpark);
    }
}

impl<T> Posted<T> {
    fn step(&self) -> MutexGuard<'_, Option<Arc<Step<T>>>> {
        self.step.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Turn> Posted<T> {
    /// Works at every step until the threads are dropped.
    fn serve(&self, share: usize, shares: usize) {
        let mut seen = 0;
        let is_closed = || self.is_closed.load(Ordering::Acquire);
        loop {
            wait_until(|| self.count.load(Ordering::Acquire) != seen || is_closed());
            if is_closed() {
                return;
            }
            seen = self.count.load(Ordering::Acquire);
            let step = self.step().clone();
            if let Some(step) = step {
                step.work(share, shares);
            }
        }
    }
}

/// Waits for something that whoever makes it true tells this thread of (`unpark`).
fn wait_until(is_true: impl Fn() -> bool) {
    if is_true() {
        return;
    }
    let begin = Instant::now();
    while !is_true() {
        if begin.elapsed() > PATIENCE {
            park();
            continue;
        }
        (0..SPINS).for_each(|_| spin_loop());
        yield_now();
    }
}
