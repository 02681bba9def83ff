//! The summary: what a person wants to know, in a screenful.

use std::fmt::{self, Write};

use hdrhistogram::Histogram;

use crate::pace::Pace;
use crate::plan::Plan;
use crate::report::QUANTILES;
use crate::run::Share;

/// Renders the summary.
#[expect(clippy::missing_panics_doc, reason = "writing to a String cannot fail")]
pub fn summary(plan: &Plan, share: &Share) -> String {
    let mut out = String::new();
    write(&mut out, plan, share).expect("writing to a String cannot fail");
    out
}

fn write(out: &mut String, plan: &Plan, share: &Share) -> fmt::Result {
    let measured = share.measured();
    let pace = match plan.pace {
        Pace::Closed => "closed loop".to_owned(),
        Pace::Open { rate } => format!("open loop at {rate}/s"),
    };
    let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    writeln!(out, "{} on {}", names.join(", "), plan.target.authority)?;
    writeln!(
        out,
        "{pace}, {} connections, {} in flight each, {:.2} s after {:.1} s of warm-up",
        plan.connections,
        plan.depth,
        share.seconds(),
        plan.warmup.as_secs_f64(),
    )?;
    writeln!(out)?;
    writeln!(out, "  requests/s  {:>14.1}", share.rate())?;
    writeln!(out, "  answers     {:>14}  right {}", measured.requests(), measured.ok)?;
    write_problems(out, share)?;
    writeln!(out, "  bytes       {:>14}  in, {} out", measured.bytes_in, measured.bytes_out)?;
    if share.opened < share.connections {
        writeln!(out, "  CONNECTED   {:>14}  of {}", share.opened, share.connections)?;
    }
    if share.reconnects() > 0 {
        writeln!(out, "  reconnects  {:>14}", share.reconnects())?;
    }
    writeln!(
        out,
        "  own CPU     {:>13.1}%  of a core: {:.2} s user, {:.2} s system{}",
        share.saturation * 100.0,
        share.cpu.user,
        share.cpu.system,
        if share.saturation > 0.85 { "; THE GENERATOR IS THE LIMIT" } else { "" },
    )?;
    writeln!(out)?;
    write_latency(out, "latency", &measured.latency)?;
    if let Some(service) = &measured.service {
        write_latency(out, "from actual sending", service)?;
    }
    write_steps(out, plan, share)?;
    write_first(out, share)
}

fn write_problems(out: &mut String, share: &Share) -> fmt::Result {
    let (wrong, errors) = (&share.measured().wrong, &share.measured().errors);
    if wrong.total() > 0 {
        writeln!(
            out,
            "  WRONG       {:>14}  status {}, length {}, body {}, extract {}",
            wrong.total(),
            wrong.status,
            wrong.length,
            wrong.body,
            wrong.extract,
        )?;
    }
    if errors.total() > 0 {
        writeln!(
            out,
            "  NO ANSWER   {:>14}  connect {}, reset {}, timeout {}, short {}, parse {}, unsent {}",
            errors.total(),
            errors.connect,
            errors.reset,
            errors.timeout,
            errors.short,
            errors.parse,
            errors.unsent,
        )?;
    }
    Ok(())
}

fn write_latency(out: &mut String, title: &str, histogram: &Histogram<u64>) -> fmt::Result {
    write!(out, "  {title}:")?;
    for (name, quantile) in QUANTILES {
        write!(out, " {} {}", name.replace('_', "."), Time(histogram.value_at_quantile(quantile)))?;
    }
    writeln!(out, " max {}", Time(histogram.max()))
}

fn write_steps(out: &mut String, plan: &Plan, share: &Share) -> fmt::Result {
    if plan.steps.len() < 2 {
        return Ok(());
    }
    for (step, tally) in plan.steps.iter().zip(&share.measured().steps) {
        writeln!(out, "  step {}: right {}, wrong {}", step.name, tally.ok, tally.wrong)?;
        write_latency(out, "  latency", &tally.latency)?;
    }
    Ok(())
}

fn write_first(out: &mut String, share: &Share) -> fmt::Result {
    if let Some(first) = &share.first_wrong {
        writeln!(out, "\nFirst wrong answer ({}): {}", first.step, first.reason)?;
        writeln!(out, "{}", first.head.trim_end())?;
        writeln!(out, "... {}", first.excerpt)?;
    }
    if let Some(first) = &share.first_unreadable {
        writeln!(out, "\nFirst unreadable answer: {first}")?;
    }
    Ok(())
}

// Nanoseconds in the unit that a person would choose.
struct Time(u64);

impl fmt::Display for Time {
    #[expect(clippy::cast_precision_loss, reason = "three figures are shown")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanoseconds = self.0 as f64;
        match self.0 {
            0..1_000_000 => write!(f, "{:.1}us", nanoseconds / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{:.2}ms", nanoseconds / 1e6),
            _ => write!(f, "{:.2}s", nanoseconds / 1e9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_readable() {
        assert_eq!("12.3us", Time(12_345).to_string());
        assert_eq!("1.50ms", Time(1_500_000).to_string());
        assert_eq!("2.00s", Time(2_000_000_000).to_string());
    }
}
