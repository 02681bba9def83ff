//! The JSON report: every number of a run, for programs.

use hdrhistogram::Histogram;
use serde_json::{Value, json};

use crate::judge::Phase;
use crate::pace::Pace;
use crate::plan::{Plan, Step};
use crate::run::{Progress, Share};
use crate::tally::{StepTally, Tally};

/// Percentiles that are reported.
pub const QUANTILES: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p99", 0.99),
    ("p99_9", 0.999),
    ("p99_99", 0.9999),
];

/// The whole report.
pub fn report(plan: &Plan, share: &Share, started_unix: f64) -> Value {
    let measured = share.measured();
    let [warmup, _, drained] = &share.tallies;
    json!({
        "tool": "tarmac-load",
        "version": env!("CARGO_PKG_VERSION"),
        "started_unix": started_unix,
        "params": params(plan),
        "seconds": share.seconds(),
        "requests": measured.requests(),
        "ok": measured.ok,
        "wrong": measured.wrong,
        "errors": measured.errors,
        "rps": share.rate(),
        "bytes_in": measured.bytes_in,
        "bytes_out": measured.bytes_out,
        "connections_opened": share.opened,
        "reconnects": share.reconnects(),
        "latency_ns": latency(&measured.latency),
        "service_ns": measured.service.as_ref().map(latency),
        "send_lag_ns": measured.service.as_ref().map(|_| latency(&share.lag)),
        "steps": steps(plan, &measured.steps),
        "series": share.series,
        "warmup": outside(warmup),
        "drain": outside(drained),
        "cpu": {
            "seconds": share.cpu.seconds,
            "user": share.cpu.user,
            "system": share.cpu.system,
            "saturation": share.saturation,
            "us_per_request": share.cpu.seconds * 1e6 / count(measured.requests().max(1)),
        },
        "first_wrong": share.first_wrong,
        "first_unreadable": share.first_unreadable,
    })
}

/// One line of progress.
pub fn progress_line(progress: &Progress) -> Value {
    let mut line = json!(progress.second);
    let phase = if progress.phase == Phase::Warmup { "warmup" } else { "measure" };
    line["phase"] = json!(phase);
    line
}

fn params(plan: &Plan) -> Value {
    json!({
        "host": plan.target.authority,
        "address": plan.target.address.to_string(),
        "steps": plan.steps.iter().map(|step| &step.name).collect::<Vec<_>>(),
        "connections": plan.connections,
        "depth": plan.depth,
        "loop": if plan.pace == Pace::Closed { "closed" } else { "open" },
        "rate": match plan.pace { Pace::Closed => None, Pace::Open { rate } => Some(rate) },
        "threads": plan.threads,
        "warmup": plan.warmup.as_secs_f64(),
        "duration": plan.duration.as_secs_f64(),
        "timeout": plan.timeout.as_secs_f64(),
        "keep_alive": plan.keep_alive,
        "cookies": plan.cookies,
    })
}

/// Percentiles, and the histogram as pairs of upper bound and count.
fn latency(histogram: &Histogram<u64>) -> Value {
    let buckets: Vec<(u64, u64)> = histogram
        .iter_recorded()
        .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
        .collect();
    let mut value = json!({
        "count": histogram.len(),
        "min": histogram.min(),
        "mean": histogram.mean(),
        "stdev": histogram.stdev(),
        "max": histogram.max(),
        "histogram": buckets,
    });
    for (name, quantile) in QUANTILES {
        value[name] = json!(histogram.value_at_quantile(quantile));
    }
    value
}

fn steps(plan: &Plan, tallies: &[StepTally]) -> Vec<Value> {
    let several = tallies.len() > 1;
    plan.steps
        .iter()
        .zip(tallies)
        .map(|(step, tally)| {
            json!({
                "name": step.name,
                "ok": tally.ok,
                "wrong": tally.wrong,
                "learned": learned(step),
                "latency_ns": several.then(|| latency(&tally.latency)),
            })
        })
        .collect()
}

fn learned(step: &Step) -> Option<Value> {
    let learned = step.expect.learned()?;
    Some(json!({
        "length": learned.length,
        "hash": format!("{:016x}", learned.template.hash()),
        "holes": learned.template.hole_count(),
    }))
}

// What the server did outside the measured phase: needed to balance its own counters.
fn outside(tally: &Tally) -> Value {
    json!({
        "requests": tally.requests(),
        "ok": tally.ok,
        "wrong": tally.wrong,
        "errors": tally.errors,
        "steps": tally.steps.iter().map(|step| json!({"ok": step.ok, "wrong": step.wrong})).collect::<Vec<_>>(),
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts fit")]
fn count(number: u64) -> f64 {
    number as f64
}
