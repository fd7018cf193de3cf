//! Hosts that run until told to stop.

use crate::emulator::Side;
use crate::host;
use crate::request::{Answer, HostAnswer};
use crate::stage::Stage;
use crate::sys::{process, signals};
use std::io;
use std::ops::ControlFlow;

/// The numbers of hosts, left and right.
pub(crate) fn counts(left: u8, right: u8) -> Result<[u8; 2], String> {
    let counts = [left, right];
    if counts.iter().any(|count| !(1..=host::MOST).contains(count)) {
        return Err(format!("accepted: 1 to {} hosts on each side", host::MOST));
    }
    Ok(counts)
}

/// Keeps the hosts until told to stop.
pub(crate) fn hold(
    stage: &mut Stage,
    say: &mut dyn FnMut(&Answer) -> io::Result<()>,
) -> io::Result<()> {
    let mut processes = Vec::new();
    let mut hosts = Vec::new();
    let mut numbers = [0; 2];
    for host in &stage.hosts {
        let process = host.start(|| signals::sleep_until_killed())?;
        let number = &mut numbers[host.side.outbound()];
        *number += 1;
        hosts.push(HostAnswer {
            side: match host.side {
                Side::Left => "left",
                Side::Right => "right",
            },
            number: *number,
            address: host.v4.to_string(),
            address6: host.has_v6.then(|| host.v6.to_string()),
            process: process.pid,
            in_user_namespace: stage.in_user_namespace,
        });
        processes.push(process);
    }
    say(&Answer::Hosts(hosts))?;
    stage.run(say, |signal| {
        Ok(match signal {
            None | Some(libc::SIGCHLD) => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        })
    })?;
    for process in processes {
        process::kill(process.pid);
        process::wait_for(process.pid)?;
    }
    Ok(())
}
