//! `[flow.command]`: programs as the ends of a flow.

use super::{COMMAND, CommandSpec, ReadyWhen};
use crate::scenario::check::Checker;
use crate::scenario::error::ScenarioError;
use crate::scenario::schema::{Flow, ReceiverConduct, SenderConduct};
use thalweg_units::Duration;

/// The longest wait for a server.
const LONGEST: Duration = Duration::from_secs(3600);

impl Checker<'_> {
    /// The programs of a flow, if it has any.
    pub(crate) fn command(
        &self,
        index: usize,
        flow: &Flow,
    ) -> Result<Option<CommandSpec>, ScenarioError> {
        let key = |name: &str| format!("flow.{index}.command.{name}");
        let named = flow.controller.strip_prefix(COMMAND);
        let (table, name) = match (&flow.command, named) {
            (None, None) => return Ok(None),
            (Some(table), Some(name)) => (table, name),
            (None, Some(_)) => {
                let problem = format!(
                    "\"{}\" requires [flow.command] with the command of a client",
                    flow.controller
                );
                return self.fail(&format!("flow.{index}.controller"), problem);
            }
            (Some(_), None) => {
                let problem = format!(
                    "\"{}\" cannot be combined with [flow.command], whose programs have controllers of their own; accepted: \"command:NAME\", a name for tables",
                    flow.controller
                );
                return self.fail(&format!("flow.{index}.controller"), problem);
            }
        };
        if name.trim().is_empty() {
            let problem = "\"command:\" names no program; accepted: \"command:curl\"";
            return self.fail(&format!("flow.{index}.controller"), problem);
        }
        let commands = [
            ("client", Some(&table.client)),
            ("server", table.server.as_ref()),
        ];
        for (name, command) in commands {
            if let Some(text) = command
                && (text.trim().is_empty() || text.contains('\0'))
            {
                let problem = format!(
                    "\"{}\" is not a command; accepted: a line for sh, such as \"nginx -g 'daemon off;'\"",
                    text.escape_debug()
                );
                return self.fail(&key(name), problem);
            }
        }
        let ready = match &table.ready {
            None => None,
            Some(_) if table.server.is_none() => {
                return self.fail(&key("ready"), "ready requires server");
            }
            Some(text) => match ReadyWhen::read(text).filter(|_| !text.contains('\0')) {
                Some(ready) => Some(ready),
                None => {
                    let problem = format!(
                        "\"{}\" is neither a port nor a command; accepted: \"tcp:80\", \"udp:443\", or a command such as \"test -S /tmp/socket\"",
                        text.escape_debug()
                    );
                    return self.fail(&key("ready"), problem);
                }
            },
        };
        if table.ready_within.is_zero() || table.ready_within > LONGEST {
            let problem = format!(
                "\"{}\" is out of range; accepted: above \"0 s\", up to \"1 h\"",
                table.ready_within
            );
            return self.fail(&key("ready_within"), problem);
        }
        self.check_carried_by_program(index, flow)?;
        Ok(Some(CommandSpec::of(table, ready)))
    }

    /// Refuses what only a sender of ours does: a program is known only from outside.
    fn check_carried_by_program(&self, index: usize, flow: &Flow) -> Result<(), ScenarioError> {
        let ours = [
            ("requests", flow.requests.is_some()),
            ("call", flow.call.is_some()),
            ("media", !flow.media.is_empty()),
            ("streams", flow.streams != 1),
            ("app_rate", flow.app_rate.is_some()),
            ("chunk", flow.chunk.is_some()),
            ("think_time", !flow.think_time.is_zero()),
            ("pauses", flow.pauses.is_some()),
            ("receive_window", flow.receive_window.is_some()),
            ("receiver", flow.receiver != ReceiverConduct::Honest),
            ("sender", flow.sender != SenderConduct::Honest),
            ("circuit_breaker", flow.circuit_breaker.is_some()),
            ("zero_rtt", flow.zero_rtt),
            ("seed", flow.seed.is_some()),
            ("tunnel", flow.tunnel.is_some()),
        ];
        match ours.iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((name, _)) => {
                let problem = format!(
                    "{name} cannot be combined with [flow.command], which takes a download or an upload"
                );
                self.fail(&format!("flow.{index}.{name}"), problem)
            }
        }
    }
}
