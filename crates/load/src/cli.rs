//! The command line.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::check::Level;
use crate::echo::EchoPlan;
use crate::pace::Pace;
use crate::plan::{Plan, PlanError};
use crate::scenario::{ExpectSource, OneOrMany, Scenario, StepSource};
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  tarmac-load http://127.0.0.1:8080/                        closed loop, 100 connections, 5 s
  tarmac-load -c 50 -p 24 -d 10 http://127.0.0.1:8080/      24 requests in flight on each of 50
  tarmac-load -R 20000 http://127.0.0.1:8080/               open loop: 20,000 per second, always
  tarmac-load --hole 'value=\"' '\"' http://127.0.0.1:8080/   tokens in the page may differ
  tarmac-load -m POST -H 'Content-Type: text/plain' -b hi --expect-status 201 http://127.0.0.1:8080/
  tarmac-load --scenario vote.json --json http://127.0.0.1:8080/
  tarmac-load serve-null --port 8080                        a server that costs nothing: the ceiling
  tarmac-load echo -s 64 http://127.0.0.1:8080/             messages over WebSockets that echo them

Exit status: 0 all answers right, 1 cannot run, 2 usage, 3 requests without answer, 4 wrong answers.";

/// HTTP load generator that checks every answer.
#[derive(Debug, Parser)]
#[command(name = "tarmac-load", version, after_help = EXAMPLES)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Cli {
    /// Another job than loading.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The load.
    #[command(flatten)]
    pub load: Load,
}

/// Other jobs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve one constant answer per request without looking at it.
    ServeNull(ServeNull),
    /// Send `WebSocket` messages and compare what comes back.
    Echo(EchoOptions),
}

/// The echo load's options.
#[derive(Debug, Args)]
pub struct EchoOptions {
    /// <http://host:port/path> of a `WebSocket` that echoes text.
    pub url: String,
    /// Connections, with one message in flight on each.
    #[arg(short, long, default_value_t = 100)]
    pub connections: usize,
    /// Bytes of each message.
    #[arg(short, long, default_value_t = 64)]
    pub size: usize,
    /// Measured seconds.
    #[arg(short, long, default_value_t = 5.0)]
    pub duration: f64,
}

impl EchoOptions {
    /// What they ask for.
    pub fn plan(&self) -> Result<EchoPlan, String> {
        if self.connections == 0 || self.size == 0 || !(0.01..=86_400.0).contains(&self.duration) {
            return Err("--connections, --size and --duration must be above 0".to_owned());
        }
        let target = Target::parse(&self.url).map_err(|error| error.to_string())?;
        let nanoseconds = Duration::from_secs_f64(self.duration).as_nanos();
        let nanoseconds = u64::try_from(nanoseconds).unwrap_or(u64::MAX);
        Ok(EchoPlan { target, connections: self.connections, size: self.size, nanoseconds })
    }
}

/// The null server's options.
#[derive(Debug, Args)]
pub struct ServeNull {
    /// Port on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// The answer's body.
    #[arg(long, default_value = "Hello, world!")]
    pub body: String,
    /// Stop after so many seconds; without it, run until killed.
    #[arg(long)]
    pub duration: Option<f64>,
}

/// What to load and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub struct Load {
    /// <http://host:port/path>; with --scenario the path is taken from its steps.
    #[arg(required = true)]
    pub url: Option<String>,
    /// Connections.
    #[arg(short, long, default_value_t = 100)]
    pub connections: usize,
    /// Requests in flight on each connection (pipelining).
    #[arg(short = 'p', long, default_value_t = 1)]
    pub depth: usize,
    /// Open loop: requests per second over all connections, latency from the intended time.
    #[arg(short = 'R', long)]
    pub rate: Option<f64>,
    /// Threads; the connections are dealt out.
    #[arg(short, long, default_value_t = 1)]
    pub threads: usize,
    /// Measured seconds.
    #[arg(short, long, default_value_t = 5.0)]
    pub duration: f64,
    /// Seconds before measuring.
    #[arg(long, default_value_t = 1.0)]
    pub warmup: f64,
    /// Seconds until a request without answer is an error.
    #[arg(long, default_value_t = 5.0)]
    pub timeout: f64,
    /// One request per connection.
    #[arg(long)]
    pub no_keepalive: bool,
    #[command(flatten)]
    /// The request.
    pub request: RequestOptions,
    #[command(flatten)]
    /// The answer.
    pub answer: AnswerOptions,
    #[command(flatten)]
    /// The report.
    pub output: OutputOptions,
}

/// What to send.
#[derive(Debug, Args)]
#[command(next_help_heading = "Request")]
pub struct RequestOptions {
    /// Request method.
    #[arg(short, long, default_value = "GET")]
    pub method: String,
    /// Header field, as 'Name: value'; may be repeated.
    #[arg(short = 'H', long = "header")]
    pub headers: Vec<String>,
    /// Body.
    #[arg(short, long)]
    pub body: Option<String>,
    /// A JSON file with a flow of requests instead of one.
    #[arg(long, conflicts_with_all = ["method", "headers", "body"])]
    pub scenario: Option<PathBuf>,
}

/// What to expect.
#[derive(Debug, Args)]
#[command(next_help_heading = "Answer")]
pub struct AnswerOptions {
    /// Status of a right answer.
    #[arg(long, default_value_t = 200)]
    pub expect_status: u16,
    /// Length of a right answer's body.
    #[arg(long)]
    pub expect_length: Option<usize>,
    /// Template hash of a right answer's body, as reported by an earlier run.
    #[arg(long, value_name = "HEX")]
    pub expect_hash: Option<String>,
    /// File with the body of a right answer.
    #[arg(long, value_name = "FILE")]
    pub expect_body: Option<PathBuf>,
    /// What is between these two may differ from answer to answer; may be repeated.
    #[arg(long, num_args = 2, value_names = ["START", "END"])]
    pub hole: Vec<String>,
    /// What else is learned from the first right answer and then asked of all.
    #[arg(long, value_enum, default_value_t = Level::Body)]
    pub check: Level,
    /// Largest body in bytes.
    #[arg(long, default_value_t = 64 << 20)]
    pub max_body: u64,
}

/// What to print.
#[derive(Debug, Args)]
#[command(next_help_heading = "Report")]
pub struct OutputOptions {
    /// JSON on standard output instead of the summary.
    #[arg(long)]
    pub json: bool,
    /// JSON to a file as well.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// One JSON line per second on standard error.
    #[arg(long)]
    pub ndjson_progress: bool,
}

impl Load {
    /// The plan that the options describe.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        let url = self.url.as_deref().unwrap_or_default();
        let target = Target::parse(url).map_err(|error| PlanError(error.to_string()))?;
        let scenario = match &self.request.scenario {
            Some(path) => Scenario::parse(&read(path)?)?,
            None => Scenario { cookies: false, steps: vec![self.step(&target)?] },
        };
        let cookies = scenario.cookies;
        let (steps, slots) = scenario.compile(&target.authority, !self.no_keepalive)?;
        let limits = http1::Limits { body_bytes: self.answer.max_body, ..Default::default() };
        let plan = Plan {
            target,
            connections: self.connections,
            depth: self.depth,
            pace: self.rate.map_or(Pace::Closed, |rate| Pace::Open { rate }),
            threads: self.threads,
            warmup: seconds(self.warmup)?,
            duration: seconds(self.duration)?,
            timeout: seconds(self.timeout)?,
            keep_alive: !self.no_keepalive,
            cookies,
            limits,
            steps,
            slots,
        };
        plan.validate()?;
        Ok(plan)
    }

    fn step(&self, target: &Target) -> Result<StepSource, PlanError> {
        let headers = self.request.headers.iter().map(|line| field(line));
        let body = self.request.body.clone().map_or(OneOrMany::None, OneOrMany::One);
        Ok(StepSource {
            name: None,
            method: Some(self.request.method.clone()),
            path: target.path.clone(),
            headers: headers.collect::<Result<_, _>>()?,
            body,
            expect: self.answer.expect()?,
            extract: Vec::new(),
        })
    }
}

impl AnswerOptions {
    fn expect(&self) -> Result<ExpectSource, PlanError> {
        let holes = self.hole.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
        Ok(ExpectSource {
            status: self.expect_status,
            length: self.expect_length,
            hash: self.expect_hash.clone(),
            body: self.expect_body.as_ref().map(read).transpose()?,
            holes: holes.collect(),
            check: self.check,
        })
    }
}

fn field(line: &str) -> Result<(String, String), PlanError> {
    let (name, value) = line
        .split_once(':')
        .ok_or_else(|| PlanError(format!("header {line:?} is not of the form 'Name: value'")))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn read(path: &PathBuf) -> Result<String, PlanError> {
    fs::read_to_string(path).map_err(|error| PlanError(format!("{}: {error}", path.display())))
}

fn seconds(number: f64) -> Result<Duration, PlanError> {
    Duration::try_from_secs_f64(number)
        .ok()
        .filter(|duration| duration.as_secs() < 1_000_000)
        .ok_or_else(|| PlanError(format!("{number} is not a number of seconds")))
}
