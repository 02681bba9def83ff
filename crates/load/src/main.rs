//! `tarmac-load`: reads the options, runs the load, prints the report.

use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Parser;

use load::cli::{Cli, Command, Load, ServeNull};
use load::echo::EchoPlan;
use load::null_server::NullServer;
use load::plan::Plan;
use load::report::{progress_line, report};
use load::run::{Progress, Share, run};
use load::summary::summary;

const CANNOT_RUN: u8 = 1;
const USAGE: u8 = 2;
const NO_ANSWERS: u8 = 3;
const WRONG_ANSWERS: u8 = 4;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
        Some(Command::ServeNull(options)) => serve_null(options).map(|()| ExitCode::SUCCESS),
        Some(Command::Echo(options)) => match options.plan() {
            Ok(plan) => echo(&plan),
            Err(error) => {
                eprintln!("tarmac-load: {error}");
                return ExitCode::from(USAGE);
            }
        },
        None => match cli.load.plan() {
            Ok(plan) => load(&cli.load, &plan),
            Err(error) => {
                eprintln!("tarmac-load: {error}");
                return ExitCode::from(USAGE);
            }
        },
    };
    result.unwrap_or_else(|error| {
        eprintln!("tarmac-load: {error}");
        ExitCode::from(CANNOT_RUN)
    })
}

fn serve_null(options: &ServeNull) -> io::Result<()> {
    let server = NullServer::bind(options.port, &options.body)?;
    println!("listening on http://{}/", server.address()?);
    server.serve(options.duration.map(Duration::from_secs_f64))
}

fn echo(plan: &EchoPlan) -> io::Result<ExitCode> {
    let report = load::echo::run(plan)?;
    writeln!(io::stdout(), "{}", serde_json::to_string(&report)?)?;
    Ok(match (report.wrong, report.lost, report.ok) {
        (0, 0, 1..) => ExitCode::SUCCESS,
        (0, ..) => ExitCode::from(NO_ANSWERS),
        _ => ExitCode::from(WRONG_ANSWERS),
    })
}

fn load(options: &Load, plan: &Plan) -> io::Result<ExitCode> {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let show = |progress: Progress| {
        if options.output.ndjson_progress {
            eprintln!("{}", progress_line(&progress));
        }
    };
    let share = run(plan, show)?;
    if options.output.json || options.output.output.is_some() {
        let json = report(plan, &share, started);
        if let Some(path) = &options.output.output {
            fs::write(path, format!("{json}\n"))?;
        }
        if options.output.json {
            writeln!(io::stdout(), "{json}")?;
        }
    }
    if !options.output.json {
        write!(io::stdout(), "{}", summary(plan, &share))?;
    }
    Ok(verdict(&share))
}

fn verdict(share: &Share) -> ExitCode {
    let answers: u64 = share.tallies.iter().map(load::tally::Tally::requests).sum();
    let wrong: u64 = share.tallies.iter().map(|tally| tally.wrong.total()).sum();
    let errors: u64 = share.tallies.iter().map(|tally| tally.errors.total()).sum();
    match (wrong, errors, answers) {
        (0, 0, 1..) => ExitCode::SUCCESS,
        (0, _, 0) => ExitCode::from(CANNOT_RUN),
        (0, ..) => ExitCode::from(NO_ANSWERS),
        _ => ExitCode::from(WRONG_ANSWERS),
    }
}
