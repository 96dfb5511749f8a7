-- Three databases, because three systems are meant: no transaction spans two of them.
-- A line "-- database: NAME" starts the schema of NAME.db. Times are seconds, by the clock
-- that the caller injects. Facts are kept apart: each *_at column is one fact and no other.

-- database: app

CREATE TABLE jobs (
  job_id            INTEGER PRIMARY KEY AUTOINCREMENT,
  kind              TEXT NOT NULL CHECK (kind IN ('report', 'publish')),
  -- From the business input, never from the attempt: this is what makes a retry recognisable.
  task_key          TEXT NOT NULL UNIQUE,
  payload           TEXT NOT NULL,
  -- Covers everything that changes the outcome: kind, payload, and the three versions below.
  payload_hash      TEXT NOT NULL,
  amount            INTEGER,              -- minor units
  currency          TEXT,                 -- since version 2; NULL = nobody has told us
  state             TEXT NOT NULL DEFAULT 'pending' CHECK (state IN
                    ('pending', 'running', 'done', 'retryable', 'uncertain', 'needs_info',
                     'cancelled', 'dead')),
  -- The fencing token. Only ever counts up, whoever holds the lease.
  generation        INTEGER NOT NULL DEFAULT 0,
  claim_limit       INTEGER NOT NULL,     -- more claims than this: the job kills its workers
  lease_owner       TEXT,                 -- for people; authority is the generation
  lease_until       REAL,
  attempt_id        TEXT,                 -- for diagnosis; never an idempotency key
  failures          INTEGER NOT NULL DEFAULT 0,
  not_before        REAL NOT NULL DEFAULT 0,
  waiting_for       TEXT,                 -- approval request that has to be answered first
  stop_requested_at REAL,
  worker_version    TEXT NOT NULL,        -- the versions with which this job started,
  prompt_version    TEXT NOT NULL,        -- whatever is installed when it is resumed
  schema_version    TEXT NOT NULL,
  input_digest      TEXT NOT NULL,
  output_digest     TEXT,
  registered_at     REAL NOT NULL,
  claimed_at        REAL,
  computed_at       REAL,
  committed_at      REAL,                 -- its result is in our books
  done_at           REAL,                 -- nothing is left to do for a worker
  last_error        TEXT
);
CREATE INDEX jobs_by_state ON jobs (state, job_id);

-- What varies (a model's answer, a time, a random id), taken once for a step of a job and
-- read back by whoever resumes it.
CREATE TABLE recorded (
  job_id      INTEGER NOT NULL REFERENCES jobs,
  step        TEXT NOT NULL,
  value       TEXT NOT NULL,
  recorded_at REAL NOT NULL,
  PRIMARY KEY (job_id, step)
);

CREATE TABLE reports (
  job_id       INTEGER NOT NULL REFERENCES jobs,
  version      INTEGER NOT NULL,
  body         TEXT NOT NULL,
  digest       TEXT NOT NULL,
  committed_at REAL NOT NULL,
  PRIMARY KEY (job_id, version)
);

CREATE TABLE outbox (
  event_id     TEXT PRIMARY KEY,          -- stable: the receiver recognises a repeat by it
  job_id       INTEGER NOT NULL REFERENCES jobs,
  payload      TEXT NOT NULL,
  created_at   REAL NOT NULL,
  offers       INTEGER NOT NULL DEFAULT 0,
  not_before   REAL NOT NULL DEFAULT 0,
  delivered_at REAL,                      -- NULL = pending, unless it was refused
  refusal      TEXT                       -- the receiver's definite no; a person has to look
);
CREATE INDEX outbox_pending ON outbox (created_at) WHERE delivered_at IS NULL;

-- The history, in order. The tables are what it folds into (events.py).
CREATE TABLE events (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id INTEGER NOT NULL,
  kind   TEXT NOT NULL,
  data   TEXT NOT NULL,
  at     REAL NOT NULL
);
CREATE TRIGGER events_never_change BEFORE UPDATE ON events
  BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_never_go BEFORE DELETE ON events
  BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;

-- What we are about to do in somebody else's system, written down before we do it.
CREATE TABLE intents (
  operation_id TEXT PRIMARY KEY,          -- made once; every retry uses this one
  job_id       INTEGER NOT NULL REFERENCES jobs,
  action       TEXT NOT NULL,
  parameters   TEXT NOT NULL,
  action_hash  TEXT NOT NULL,
  generation   INTEGER NOT NULL,          -- who may send it
  state        TEXT NOT NULL CHECK (state IN
               ('prepared', 'sent', 'confirmed', 'unknown', 'failed')),
  ticket_id    INTEGER,
  evidence     TEXT,
  prepared_at  REAL NOT NULL,
  sent_at      REAL,
  settled_at   REAL,
  UNIQUE (job_id, action)
);

CREATE TABLE people (
  person       TEXT PRIMARY KEY,
  token_digest TEXT NOT NULL,             -- says who answers
  may_approve  INTEGER NOT NULL           -- as of now, not as of the request
);

CREATE TABLE approvals (
  request_id     TEXT PRIMARY KEY,
  job_id         INTEGER NOT NULL REFERENCES jobs,   -- whose report
  publish_job_id INTEGER NOT NULL REFERENCES jobs,   -- parked until the answer
  report_version INTEGER NOT NULL,
  report_digest  TEXT NOT NULL,
  action         TEXT NOT NULL,
  action_hash    TEXT NOT NULL,
  applicant      TEXT NOT NULL,
  approver       TEXT NOT NULL REFERENCES people,
  state          TEXT NOT NULL CHECK (state IN
                 ('pending', 'approved', 'rejected', 'superseded')),
  requested_at   REAL NOT NULL,
  expires_at     REAL NOT NULL,
  answered_at    REAL,
  answered_by    TEXT
);

CREATE TABLE dead_letters (
  job_id     INTEGER PRIMARY KEY REFERENCES jobs,
  reason     TEXT NOT NULL,
  last_error TEXT,
  payload    TEXT NOT NULL,
  at         REAL NOT NULL
);

-- database: receiver

CREATE TABLE inbox (
  event_id       TEXT PRIMARY KEY,
  payload_digest TEXT NOT NULL,
  answer         TEXT NOT NULL,           -- the first answer, for every repeat
  received_at    REAL NOT NULL
);

-- The receiver's own work. It is written with the inbox row or not at all.
CREATE TABLE notifications (
  notification_id INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id        TEXT NOT NULL,
  owner           TEXT NOT NULL,
  text            TEXT NOT NULL
);

-- The published pages: a protected store that remembers the largest generation it has seen.
CREATE TABLE pages (
  page_id    TEXT NOT NULL,
  version    INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  body       TEXT,                        -- NULL = fenced before anything was written
  written_at REAL NOT NULL,
  PRIMARY KEY (page_id, version)
);

-- database: tickets

CREATE TABLE tickets (
  ticket_id    INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant       TEXT NOT NULL,
  operation_id TEXT,                      -- NULL where the service knows no such thing
  title        TEXT NOT NULL,
  account      TEXT NOT NULL,
  body         TEXT NOT NULL,
  created_at   REAL NOT NULL,
  cancelled_at REAL
);

CREATE TABLE idempotency_keys (
  tenant          TEXT NOT NULL,          -- the scope: two tenants may use the same key
  key             TEXT NOT NULL,
  parameters_hash TEXT NOT NULL,
  ticket_id       INTEGER NOT NULL REFERENCES tickets,
  created_at      REAL NOT NULL,
  PRIMARY KEY (tenant, key)
);
