//! Asks each stage of a case to stop after a second, and ends the process when it does not obey within another.
//!
//! Seconds are seconds of the processor, and the second one begins when the stage is asked, so that a busy machine makes
//! no false alarm. What uses no processor time and
//! does not end either is blocked: that has a limit in real time.

use cpu_time::ProcessTime;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use thalweg_sim::Progress;

/// After so much, a stage is asked to stop.
const ASK: Duration = Duration::from_secs(1);
/// It has to end so much after it was asked.
const OBEY: Duration = Duration::from_secs(1);
/// Real time that no stage takes.
const BLOCKED: Duration = Duration::from_secs(120);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);
/// Exit status of a process that has ended itself because a stage did not stop.
pub(crate) const HUNG: i32 = 86;

/// The present stage.
struct Stage {
    name: &'static str,
    used: ProcessTime,
    since: Instant,
    progress: Arc<Progress>,
    /// Processor time that it had taken when it was asked to stop.
    asked: Option<Duration>,
}

/// Watches the stages of one case after another. By default nobody looks: a process whose threads test in parallel has no
/// processor time of one stage.
#[derive(Clone, Default)]
pub(crate) struct Watch(Arc<Mutex<Option<Stage>>>);

impl Watch {
    /// Begins to watch this process. Only one is needed.
    pub(crate) fn start() -> Watch {
        let watch = Watch::default();
        let looks = watch.clone();
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(LOOK);
                looks.look();
            }
        });
        watch
    }

    /// A stage begins, and the one before is over. What is returned will tell it to stop.
    pub(crate) fn stage(&self, name: &'static str) -> Arc<Progress> {
        self.stage_with(name, Progress::default())
    }

    /// A stage begins with this progress.
    pub(crate) fn stage_with(&self, name: &'static str, progress: Progress) -> Arc<Progress> {
        let progress = Arc::new(progress);
        let stage = Stage {
            name,
            used: ProcessTime::now(),
            since: Instant::now(),
            progress: Arc::clone(&progress),
            asked: None,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(stage);
        progress
    }

    /// Processor time that the present stage has taken so far.
    pub(crate) fn taken(&self) -> Duration {
        let stage = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (stage.as_ref()).map_or(Duration::ZERO, |stage| stage.used.elapsed())
    }

    /// The case is over.
    pub(crate) fn rest(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn look(&self) {
        let mut stage = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(stage) = stage.as_mut() else {
            return;
        };
        let (used, real) = (stage.used.elapsed(), stage.since.elapsed());
        if used > ASK && stage.asked.is_none() {
            stage.progress.stop.store(true, Ordering::Relaxed);
            stage.asked = Some(used);
        }
        let disobeys = stage.asked.is_some_and(|asked| used > asked + OBEY);
        if disobeys || real > BLOCKED {
            println!("hung {}", stage.name);
            std::process::exit(HUNG);
        }
    }
}
