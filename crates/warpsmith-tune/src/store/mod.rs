//! Results that outlive the run: a SQLite database with a row for every configuration, written as it arrives.
//!
//! A *problem* is everything that a time depends on beside the configuration: kernel source, schedule, arguments, GPU,
//! driver and compiler. A configuration of a problem has one row: [`Store::record`] leaves the outcome that is there,
//! [`Store::replace`] puts a newer one in its place, and nothing is ever deleted. Rows are committed one by one to a
//! write-ahead log, so a process that is killed loses nothing it has reported as recorded, and several processes may
//! write at a time.

mod look;
mod outcome_json;
mod row;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use serde_json::{Map, Value as Json};
use warpsmith_ir::Diagnostic;

use crate::outcome::{Outcome, Record, Status};
use crate::space::{ConfigId, Configuration, Space};

pub use row::{Damaged, record_from_json, record_to_json};

/// The layout of the database, kept in it as `user_version`. Layout 2 added `problem.space`.
const LAYOUT: i32 = 2;

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS problem (
        id INTEGER PRIMARY KEY,
        kernel TEXT NOT NULL,
        source_hash TEXT NOT NULL,
        schedule_hash TEXT NOT NULL,
        arguments TEXT NOT NULL,
        device TEXT NOT NULL,
        driver TEXT NOT NULL,
        compiler TEXT NOT NULL,
        -- A T1 problem: parameters, constraints and kernel; NULL where nobody said them.
        space TEXT,
        UNIQUE (kernel, source_hash, schedule_hash, arguments, device, driver, compiler)
    );
    CREATE TABLE IF NOT EXISTS result (
        id INTEGER PRIMARY KEY,
        problem INTEGER NOT NULL REFERENCES problem (id),
        -- Names and values as a JSON list of pairs.
        configuration TEXT NOT NULL,
        status TEXT NOT NULL,
        -- NULL unless the configuration can be used.
        time_ms REAL,
        -- Raw samples in milliseconds, in the order they were taken, as a JSON list.
        samples_ms TEXT NOT NULL,
        -- Everything else that is known, as JSON.
        details TEXT NOT NULL,
        recorded TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
        UNIQUE (problem, configuration)
    );
    CREATE INDEX IF NOT EXISTS result_by_time ON result (problem, time_ms);
";

/// The columns of a problem's key.
const FIELDS: [&str; 7] =
    ["kernel", "source_hash", "schedule_hash", "arguments", "device", "driver", "compiler"];

/// What a time depends on, beside the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProblemKey {
    /// The kernel's name, for people.
    pub kernel: String,
    /// [`fingerprint`] of the source.
    pub source_hash: String,
    /// [`fingerprint`] of the schedule or template whose parameters are tuned; empty where there is none.
    pub schedule_hash: String,
    /// Sizes and how arrays are filled, in one canonical text.
    pub arguments: String,
    /// The device's name.
    pub device: String,
    /// Version of its driver.
    pub driver: String,
    /// Version of the compiler.
    pub compiler: String,
}

impl ProblemKey {
    /// As an object with a text for each field, for files that are to find their way back to the problem.
    pub fn to_json(&self) -> Map<String, Json> {
        let values = self.fields().map(|value| Json::from(value.as_str()));
        FIELDS.map(String::from).into_iter().zip(values).collect()
    }

    /// From such an object; `None` where a field is missing or no text.
    pub fn from_json(object: &Map<String, Json>) -> Option<ProblemKey> {
        let field = |name: &str| object.get(name)?.as_str().map(str::to_string);
        let [kernel, source_hash, schedule_hash, arguments, device, driver, compiler] =
            FIELDS.map(field);
        Some(ProblemKey {
            kernel: kernel?,
            source_hash: source_hash?,
            schedule_hash: schedule_hash?,
            arguments: arguments?,
            device: device?,
            driver: driver?,
            compiler: compiler?,
        })
    }

    /// In the order of the table's columns.
    fn fields(&self) -> [&String; 7] {
        let ProblemKey { kernel, source_hash, schedule_hash, arguments, device, driver, compiler } =
            self;
        [kernel, source_hash, schedule_hash, arguments, device, driver, compiler]
    }
}

/// A problem in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProblemId(i64);

impl ProblemId {
    /// What people call it by.
    pub fn number(self) -> i64 {
        self.0
    }
}

/// A problem with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The number by which the store refers to it.
    pub id: ProblemId,
    /// What its times depend on.
    pub key: ProblemKey,
    /// Results that are kept.
    pub results: u64,
    /// Those of them that cannot be used.
    pub failed: u64,
    /// The least time in milliseconds; `None`: no result has one.
    pub best_ms: Option<f64>,
}

/// Which results to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    /// Results of this status alone; `None`: all.
    pub status: Option<Status>,
    /// The fastest so many; results without a time come last.
    pub fastest: Option<u32>,
}

/// What a query for results finds.
#[derive(Default)]
struct Listed {
    /// With the times at which they were recorded.
    rows: Vec<(Record, Option<String>)>,
    damaged: Vec<Damaged>,
}

/// An open database.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    layout: i32,
    /// A copy that is looked at in the place of the file; removed with the store.
    _copy: Option<tempfile::TempDir>,
}

/// What to do about a store that cannot be opened.
const ANOTHER: &str =
    "name another file with --store or WARPSMITH_STORE; its folder must have space and be writable";

impl Store {
    /// Opens a database, or makes one.
    ///
    /// # Errors
    /// The file cannot be opened, is no database of ours, or is of a newer version.
    pub fn open(path: &Path) -> Result<Store, Diagnostic> {
        let path = path.to_path_buf();
        let refuse = |why: String| {
            let text = format!("cannot open the store `{}`: {why}", path.display());
            Diagnostic::error("W420", text).help(ANOTHER)
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(&path, flags).map_err(|e| refuse(e.to_string()))?;
        prepare(&connection).map_err(refuse)?;
        Ok(Store { connection, path, layout: LAYOUT, _copy: None })
    }

    fn failed(&self, error: &rusqlite::Error) -> Diagnostic {
        let text = format!("the store `{}` failed: {error}", self.path.display());
        Diagnostic::error("W421", text)
    }

    /// The problem of a key; it is added when it is new.
    ///
    /// # Errors
    /// What the database reports.
    pub fn problem(&mut self, key: &ProblemKey) -> Result<ProblemId, Diagnostic> {
        self.find_problem(key).map(ProblemId).map_err(|error| self.failed(&error))
    }

    /// The problem of a key, where somebody has recorded something of it.
    ///
    /// # Errors
    /// What the database reports.
    pub fn known_problem(&self, key: &ProblemKey) -> Result<Option<ProblemId>, Diagnostic> {
        let found = self.look_up(key).optional();
        found.map(|id| id.map(ProblemId)).map_err(|error| self.failed(&error))
    }

    fn find_problem(&self, key: &ProblemKey) -> rusqlite::Result<i64> {
        self.connection.execute(
            "INSERT OR IGNORE INTO problem
             (kernel, source_hash, schedule_hash, arguments, device, driver, compiler)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            key.fields(),
        )?;
        self.look_up(key)
    }

    fn look_up(&self, key: &ProblemKey) -> rusqlite::Result<i64> {
        self.connection.query_row(
            "SELECT id FROM problem WHERE kernel = ?1 AND source_hash = ?2 AND schedule_hash = ?3
             AND arguments = ?4 AND device = ?5 AND driver = ?6 AND compiler = ?7",
            key.fields(),
            |row| row.get(0),
        )
    }

    /// Keeps what configurations of a problem are made of, as [`crate::exchange::t1::Problem::write`] gives it; what was
    /// said before is replaced.
    ///
    /// # Errors
    /// What the database reports.
    pub fn set_space(&mut self, problem: ProblemId, t1: &str) -> Result<(), Diagnostic> {
        let done = self
            .connection
            .execute("UPDATE problem SET space = ?2 WHERE id = ?1", params![problem.0, t1]);
        done.map(|_| ()).map_err(|error| self.failed(&error))
    }

    /// What configurations of a problem are made of, if somebody has said it.
    ///
    /// # Errors
    /// What the database reports.
    pub fn space(&self, problem: ProblemId) -> Result<Option<String>, Diagnostic> {
        if self.layout < LAYOUT {
            return Ok(None);
        }
        let row = self.connection.query_row(
            "SELECT space FROM problem WHERE id = ?1",
            params![problem.0],
            |row| Ok(row.get::<_, Option<String>>(0).unwrap_or_default()),
        );
        row.optional().map(Option::flatten).map_err(|error| self.failed(&error))
    }

    /// Records an outcome durably. False when the configuration was recorded before; that outcome stays.
    ///
    /// # Errors
    /// What the database reports, such as a full disk.
    pub fn record(&mut self, problem: ProblemId, record: &Record) -> Result<bool, Diagnostic> {
        let new =
            self.insert(problem, record, "DO NOTHING").map_err(|error| self.failed(&error))?;
        if !new && self.find(problem, &record.configuration)?.is_none() {
            // The row that is there is damaged.
            self.replace(problem, record)?;
            return Ok(true);
        }
        Ok(new)
    }

    /// Records an outcome durably; it takes the place of an earlier one of its configuration.
    ///
    /// # Errors
    /// As [`Store::record`].
    pub fn replace(&mut self, problem: ProblemId, record: &Record) -> Result<(), Diagnostic> {
        let newer = "DO UPDATE SET status = excluded.status, time_ms = excluded.time_ms,
             samples_ms = excluded.samples_ms, details = excluded.details,
             recorded = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";
        let done = self.insert(problem, record, newer);
        done.map(|_| ()).map_err(|error| self.failed(&error))
    }

    /// Records many outcomes, all or none. Returns how many were new.
    ///
    /// # Errors
    /// As [`Store::record`].
    pub fn record_all(
        &mut self,
        problem: ProblemId,
        records: &[Record],
    ) -> Result<u64, Diagnostic> {
        let all = || -> rusqlite::Result<u64> {
            let transaction = self.connection.unchecked_transaction()?;
            let mut new = 0;
            for record in records {
                new += u64::from(self.insert(problem, record, "DO NOTHING")?);
            }
            transaction.commit()?;
            Ok(new)
        };
        all().map_err(|error| self.failed(&error))
    }

    /// `otherwise` says what becomes of a row that the configuration has already. True when something was written.
    fn insert(
        &self,
        problem: ProblemId,
        record: &Record,
        otherwise: &str,
    ) -> rusqlite::Result<bool> {
        let outcome = &record.outcome;
        let time = Some(outcome.cost()).filter(|t| t.is_finite());
        let inserted = self.connection.execute(
            &format!(
                "INSERT INTO result (problem, configuration, status, time_ms, samples_ms, details)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (problem, configuration) {otherwise}"
            ),
            params![
                problem.0,
                row::configuration_text(&record.configuration),
                outcome.status.name(),
                time,
                outcome_json::samples(outcome),
                outcome_json::details(outcome),
            ],
        );
        inserted.map(|rows| rows > 0)
    }

    /// The recorded outcome of a configuration; `None` too where its row is damaged.
    ///
    /// # Errors
    /// What the database reports.
    pub fn find(
        &self,
        problem: ProblemId,
        configuration: &Configuration,
    ) -> Result<Option<Outcome>, Diagnostic> {
        let row = self.connection.query_row(
            "SELECT configuration, status, samples_ms, details FROM result
             WHERE problem = ?1 AND configuration = ?2",
            params![problem.0, row::configuration_text(configuration)],
            |row| Ok(row::record(row).ok()),
        );
        let found = row.optional().map_err(|error| self.failed(&error))?;
        Ok(found.flatten().map(|record| record.outcome))
    }

    /// Problems whose results came from files that do not say what they were measured on but the kernel's name and the
    /// device: those of other tuners.
    ///
    /// # Errors
    /// What the database reports.
    pub fn from_elsewhere(&self, kernel: &str, device: &str) -> Result<Vec<Summary>, Diagnostic> {
        let mut all = self.problems()?;
        all.retain(|p| {
            let key = &p.key;
            let unsaid = key.source_hash.is_empty() && key.schedule_hash.is_empty();
            // Other tuners leave the arguments of a template away.
            let base = kernel.split('<').next().unwrap_or_default().trim_end();
            unsaid && [kernel, base].contains(&key.kernel.as_str()) && key.device == device
        });
        Ok(all)
    }

    /// Results of a problem, in the order they were recorded, or fastest first. Rows that are damaged are left out:
    /// [`Store::damaged`] names them.
    ///
    /// # Errors
    /// What the database reports.
    pub fn results(&self, problem: ProblemId, filter: Filter) -> Result<Vec<Record>, Diagnostic> {
        let listed = self.list(problem, filter).map_err(|error| self.failed(&error))?;
        Ok(listed.rows.into_iter().map(|(record, _)| record).collect())
    }

    /// As [`Store::results`]; an outcome without a timestamp has the time at which it was recorded.
    ///
    /// # Errors
    /// What the database reports.
    pub fn dated_results(
        &self,
        problem: ProblemId,
        filter: Filter,
    ) -> Result<Vec<Record>, Diagnostic> {
        let listed = self.list(problem, filter).map_err(|error| self.failed(&error))?;
        let dated = |(mut record, recorded): (Record, Option<String>)| {
            record.outcome.timestamp = record.outcome.timestamp.or(recorded);
            record
        };
        Ok(listed.rows.into_iter().map(dated).collect())
    }

    /// Rows of a problem that no result can be made of.
    ///
    /// # Errors
    /// What the database reports.
    pub fn damaged(&self, problem: ProblemId) -> Result<Vec<Damaged>, Diagnostic> {
        let listed = self.list(problem, Filter::default());
        listed.map(|l| l.damaged).map_err(|error| self.failed(&error))
    }

    fn list(&self, problem: ProblemId, filter: Filter) -> rusqlite::Result<Listed> {
        let order = match filter.fastest {
            Some(_) => "time_ms IS NULL, time_ms, id",
            None => "id",
        };
        let mut statement = self.connection.prepare(&format!(
            "SELECT configuration, status, samples_ms, details, recorded, id FROM result
             WHERE problem = ?1 AND (?2 IS NULL OR status = ?2) ORDER BY {order}"
        ))?;
        let status = filter.status.map(Status::name);
        // Damaged rows take no place among the fastest.
        let most = filter.fastest.map_or(usize::MAX, |n| n as usize);
        let mut listed = Listed::default();
        let mut rows = statement.query(params![problem.0, status])?;
        while let Some(row) = rows.next()? {
            match row::record(row) {
                Ok(_) if listed.rows.len() >= most => break,
                // A time that is no text is no time.
                Ok(record) => listed.rows.push((record, row.get(4).ok())),
                Err(column) => listed.damaged.push(Damaged { row: row.get(5)?, column }),
            }
        }
        Ok(listed)
    }

    /// What a search of this space need not measure again, with costs, for [`crate::tuner::Options::known`].
    /// Configurations outside of the space are left out.
    ///
    /// # Errors
    /// What the database reports.
    pub fn known(
        &self,
        problem: ProblemId,
        space: &Space,
    ) -> Result<Vec<(ConfigId, f64)>, Diagnostic> {
        let records = self.results(problem, Filter::default())?;
        let cost = |r: Record| Some((space.find(&r.configuration)?, r.outcome.cost()));
        Ok(records.into_iter().filter_map(cost).collect())
    }

    /// All problems, oldest first.
    ///
    /// # Errors
    /// What the database reports.
    pub fn problems(&self) -> Result<Vec<Summary>, Diagnostic> {
        self.summaries().map_err(|error| self.failed(&error))
    }

    fn summaries(&self) -> rusqlite::Result<Vec<Summary>> {
        let mut statement = self.connection.prepare(
            "SELECT p.id, kernel, source_hash, schedule_hash, arguments, device, driver, compiler,
                    COUNT(r.id), COUNT(r.id) - COUNT(r.time_ms),
                    MIN(CASE WHEN typeof(r.time_ms) = 'real' THEN r.time_ms END)
             FROM problem p LEFT JOIN result r ON r.problem = p.id GROUP BY p.id ORDER BY p.id",
        )?;
        let rows = statement.query_map([], |row| {
            Ok(Summary {
                id: ProblemId(row.get(0)?),
                key: ProblemKey {
                    kernel: row::text(row, 1)?,
                    source_hash: row::text(row, 2)?,
                    schedule_hash: row::text(row, 3)?,
                    arguments: row::text(row, 4)?,
                    device: row::text(row, 5)?,
                    driver: row::text(row, 6)?,
                    compiler: row::text(row, 7)?,
                },
                results: row.get(8)?,
                failed: row.get(9)?,
                best_ms: row.get(10)?,
            })
        })?;
        rows.collect()
    }

    /// Asks the database whether it is whole.
    ///
    /// # Errors
    /// What is damaged.
    pub fn check(&self) -> Result<(), Diagnostic> {
        let answer: rusqlite::Result<String> =
            self.connection.query_row("PRAGMA integrity_check", [], |row| row.get(0));
        match answer {
            Ok(answer) if answer == "ok" => Ok(()),
            Ok(answer) => {
                let text = format!("the store `{}` is damaged: {answer}", self.path.display());
                Err(Diagnostic::error("W421", text))
            }
            Err(error) => Err(self.failed(&error)),
        }
    }
}

/// How long one waits for other processes that use the file.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sets the connection up and makes the tables.
fn prepare(connection: &Connection) -> Result<(), String> {
    let version = known_layout(connection)?;
    let words = |error: rusqlite::Error| error.to_string();
    // SQLite does not wait for others itself where a file gets its log.
    let patiently = |action: &dyn Fn() -> rusqlite::Result<()>| {
        let end = Instant::now() + PATIENCE;
        loop {
            match action() {
                Err(e) if is_busy(&e) && Instant::now() < end => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                done => return done.map_err(words),
            }
        }
    };
    // A commit reaches the log before it returns: a killed process loses nothing. `NORMAL` leaves it to the system
    // when the log reaches the disk; only a loss of power can cost the last rows, and never the database.
    let settings =
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;";
    patiently(&|| connection.execute_batch(settings))?;
    if version < LAYOUT { patiently(&|| migrate(connection)) } else { Ok(()) }
}

/// Another process uses the file at the moment.
fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    error.sqlite_error_code().is_some_and(|code| matches!(code, DatabaseBusy | DatabaseLocked))
}

/// The layout of a database that is ours or empty, 0 for an empty one.
fn known_layout(connection: &Connection) -> Result<i32, String> {
    let words = |error: rusqlite::Error| error.to_string();
    connection.busy_timeout(PATIENCE).map_err(words)?;
    let version: i32 =
        connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(words)?;
    if version > LAYOUT {
        return Err(format!(
            "it was made by a newer version (layout {version}, this one knows {LAYOUT})"
        ));
    }
    let tables: i64 = connection
        .query_row("SELECT COUNT(*) FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'", [], |row| {
            row.get(0)
        })
        .map_err(words)?;
    if version == 0 && tables > 0 {
        let ours: i64 = connection
            .query_row(
                "SELECT COUNT(*) FROM sqlite_master WHERE name IN ('problem', 'result')",
                [],
                |row| row.get(0),
            )
            .map_err(words)?;
        if ours == 0 {
            return Err("it is a database of something else".into());
        }
    }
    Ok(version)
}

/// Makes the tables of a new database, and adds to those of an older one what they lack.
fn migrate(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let done = || -> rusqlite::Result<()> {
        // Another process may have been faster.
        let version: i32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if version < LAYOUT {
            connection.execute_batch(TABLES)?;
        }
        if version == 1 {
            connection.execute_batch("ALTER TABLE problem ADD COLUMN space TEXT")?;
        }
        connection.execute_batch(&format!("PRAGMA user_version = {LAYOUT}; COMMIT"))
    };
    done().inspect_err(|_| {
        // The first error is the one to report.
        let _ = connection.execute_batch("ROLLBACK");
    })
}

/// A short name of a text's content: 128 bits of FNV-1a in hexadecimal. Against accidents, not against attacks.
pub fn fingerprint(text: &str) -> String {
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in text.bytes() {
        hash ^= u128::from(byte);
        hash = hash.wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests;
