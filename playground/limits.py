"""All limits of the application, as one table.

A limit is set by the environment variable ``PLAYGROUND_<NAME>``; the values in use are
``settings.PLAYGROUND``. Everything that a visitor sends, stores or has computed is limited by one of these
rows.
"""

from __future__ import annotations

from django.conf import settings
from msgspec import Struct

MIB = 1024 * 1024
MOST = {"days": 36_500, "seconds": 10**8, "threads": 1_000, "proxies": 100}


class Limit(Struct, frozen=True):
    """One limit: its name without the prefix, default, unit, what it limits, and its minimum value."""

    name: str
    default: int
    unit: str
    meaning: str
    least: int = 1

    @property
    def most(self) -> int:
        """The largest value that the environment may set, with which no calculation overflows."""
        return MOST.get(self.unit, 10**12)


LIMITS: tuple[Limit, ...] = (
    Limit(
        "BUNDLE_BYTES", 32 * MIB, "bytes", "one bundle after decompression: a paste, an upload, an API body"
    ),
    Limit("UPLOAD_FILES", 20, "files", "files of one upload; an archive is one of them"),
    Limit("DRAFT_BYTES", 4 * MIB, "bytes", "a draft saved over the WebSocket"),
    Limit("DRAFTS_PER_OWNER", 200, "drafts", "drafts of one visitor; the oldest go first"),
    Limit("BRANCHES_PER_FAMILY", 60, "drafts", "drafts of one visitor that come of the same source"),
    Limit("DRAFT_DAYS", 90, "days", "a draft that was not opened or changed for longer expires"),
    Limit("LINK_DAYS", 90, "days", "a link that nobody opened for longer expires"),
    Limit("LINKS_PER_OWNER", 1_000, "links", "private links of one visitor"),
    Limit("COMPARISONS_PER_OWNER", 500, "comparisons", "comparisons that one visitor shares"),
    Limit("LINK_CYCLES", 2_000, "cycles", "decisions that a private link keeps, to compare them later"),
    Limit("RUN_DAYS", 90, "days", "a finished run that nobody opened for longer expires"),
    Limit(
        "AUDIT_DAYS",
        365,
        "days",
        "a visitor's entry in the audit log is removed after it; operators' entries stay",
    ),
    Limit("EXPIRY_SECONDS", 900, "seconds", "between two removals of what has expired"),
    Limit(
        "STORAGE_PER_OWNER", 256 * MIB, "bytes", "stored drafts, links and runs of one visitor, compressed"
    ),
    Limit("STORAGE_PER_ADDRESS", 2048 * MIB, "bytes", "the same of all visitors of one address"),
    Limit("STORAGE_TOTAL", 16_384 * MIB, "bytes", "the same of everybody"),
    Limit(
        "ACCOUNTS",
        100_000,
        "accounts",
        "accounts there may be; 0: there are none, and nobody signs in",
        least=0,
    ),
    Limit("ACCOUNT_DAYS", 90, "days", "an account that holds nothing goes this long after the last sign-in"),
    Limit("SIGN_INS_PER_MINUTE", 60, "requests", "passwords tried from one address"),
    Limit("SIGN_INS_PER_ACCOUNT", 10, "requests", "passwords tried for one account, from anywhere"),
    Limit("SIGN_UPS_PER_MINUTE", 30, "requests", "accounts created from one address"),
    # Times ACCOUNT_DAYS fewer than ACCOUNTS: no address alone takes every account that there may be.
    Limit("SIGN_UPS_PER_DAY", 1_000, "requests", "the same, in a day"),
    Limit("NODES", 20_000, "nodes", "nodes of one scenario"),
    # As many as Kubernetes supports in one cluster (its "Considerations for large clusters").
    Limit("PODS", 150_000, "pods", "pods of one scenario, those of controllers and operations included"),
    Limit("MANIFESTS", 75_000, "manifests", "manifests of one bundle, items of lists counted individually"),
    Limit(
        "INTERACTIVE_WORK",
        10_000_000,
        "nodes × pods",
        "above it the API and Worth it? ask for a run in a worker; the workbench opens anything",
    ),
    Limit("INTERACTIVE_CYCLES", 20_000, "cycles", "cycles that the workbench computes by itself"),
    Limit("INTERACTIVE_SECONDS", 60, "seconds", "computing for one source in a web process"),
    Limit(
        "STEP_SECONDS",
        20,
        "seconds",
        "computing for one step in a web process: a cycle with what follows from it, or making a simulation",
    ),
    Limit("STEP_MIB", 1_024, "MiB", "by which one step may let a web process grow"),
    Limit("WHY_SECONDS", 15, "seconds", "answering one Why?, or trying out a copy with a change of it"),
    Limit("FIND_SECONDS", 20, "seconds", "one search for a cycle, before it has to be asked to go on"),
    Limit("ENGINE_THREADS", 2, "threads", "threads of a web process that run the engine at once"),
    Limit(
        "CPU_SECONDS_PER_VISITOR",
        300,
        "seconds",
        "of a processor that a web process with its pool computes for one visitor in CPU_BUDGET_SECONDS",
    ),
    Limit(
        "CPU_SECONDS_PER_ADDRESS",
        1_200,
        "seconds",
        "the same for all visitors of one address (a lecture hall has one)",
    ),
    Limit("CPU_BUDGET_SECONDS", 600, "seconds", "in which such a budget is there again"),
    Limit("PARSING_THREADS", 2, "threads", "threads of a web process that read bundles"),
    Limit(
        "LOOP_STALL_SECONDS",
        5,
        "seconds",
        "for which a web process answers nothing before it is replaced; 0: it never is",
        least=0,
    ),
    Limit(
        "POOL_PROCESSES",
        2,
        "processes",
        "processes beside a web process that read and compute what is large; 0: its own threads do",
        least=0,
    ),
    Limit(
        "POOL_SECONDS", 180, "seconds", "computing for one job of such a process, which is killed after it"
    ),
    Limit("POOL_MIB", 4_096, "MiB", "resident memory of such a process, which is killed beyond it"),
    Limit("POOL_JOBS_PER_VISITOR", 1, "jobs", "jobs of one visitor that run in these processes at once"),
    Limit("POOL_QUEUED_PER_VISITOR", 16, "jobs", "jobs of one visitor that wait for these processes"),
    Limit("POOL_QUEUED", 200, "jobs", "jobs of all visitors that wait for these processes"),
    Limit(
        "POOL_WAIT_SECONDS",
        60,
        "seconds",
        "that a long job of these waits at most; one that would begin later is refused with its place",
    ),
    Limit("PLAYBACKS", 256, "playbacks", "sources that a web process keeps open"),
    Limit(
        "PLAYBACK_BYTES",
        768 * MIB,
        "bytes",
        "what all open playbacks hold, by estimates and by real memory; a larger one is kept alone",
    ),
    Limit("CYCLE_CACHE_BYTES", 48 * MIB, "bytes", "decided cycles kept whole, for each playback"),
    Limit(
        "CHECKPOINT_BYTES",
        64 * MIB,
        "bytes",
        "copies of a simulation with a cache, for each playback's jumps",
    ),
    Limit("LIGHT_CACHE", 4_000, "cycles", "light cycles kept encoded, for each playback"),
    Limit("ANSWERS", 8_000, "answers", "encoded answers kept, for each playback"),
    Limit("ANSWER_BYTES", 32 * MIB, "bytes", "encoded answers kept, for each playback"),
    Limit("SOURCES_SEEN", 4_096, "sources", "sources that a web process remembers to have found"),
    Limit("SOURCE_SECONDS", 2, "seconds", "how long a source that was found counts as found for a step"),
    Limit("RUN_CYCLES", 1_000_000, "cycles", "cycles of one run"),
    Limit("RUN_SECONDS", 3_600, "seconds", "computing for one run"),
    Limit(
        "RUN_OUTAGE_SECONDS",
        600,
        "seconds",
        "a worker waiting for a database that is unavailable; then the run is left to the next one",
    ),
    Limit("RUN_MIB", 4_096, "MiB", "resident memory of a worker process during a run"),
    Limit(
        "SHORT_WORK",
        200_000,
        "nodes × cycles",
        "expected of a run that a process for short runs computes; fewer than 100 nodes count as 100",
    ),
    Limit(
        "SHORT_SECONDS",
        10,
        "seconds",
        "computing for a run in the queue of short ones; then it is a long one",
    ),
    Limit(
        "TURN_SECONDS",
        60,
        "seconds",
        "computing for a long run before it makes room for another visitor's that waits",
    ),
    Limit("RUNS_PER_OWNER", 4, "runs", "unfinished runs of one visitor", least=0),
    Limit("RUNS_PER_ADDRESS", 40, "runs", "unfinished runs of one address", least=0),
    Limit("RUNS_QUEUED", 500, "runs", "runs that wait for a worker, of all visitors together", least=0),
    Limit("QUERY_MIB", 512, "MiB", "tables of runs that a web server keeps to answer questions about them"),
    Limit("SWEEP_CELLS", 200, "cells", "cells of one sweep"),
    Limit("SWEEPS_PER_OWNER", 2, "sweeps", "unfinished sweeps of one visitor", least=0),
    Limit("SWEEPS_PER_ADDRESS", 10, "sweeps", "unfinished sweeps of one address", least=0),
    Limit("SWEEP_CELLS_QUEUED", 2_000, "cells", "cells that wait for a worker, of all visitors", least=0),
    Limit("EXTENDER_SECONDS", 3, "seconds", "one call of an extender, whatever its httpTimeout says"),
    Limit("EXTENDER_BYTES", MIB, "bytes", "one answer of an extender"),
    Limit("EXTENDER_DAYS", 90, "days", "an extender's answer that nobody asked for again for longer expires"),
    Limit(
        "RUN_CHECKPOINT_BYTES",
        32 * MIB,
        "bytes",
        "stored copies of a run's simulation, with which late cycles open at once; 0: there are none",
        least=0,
    ),
    Limit("RUN_SAMPLES", 1_000, "points", "metric samples kept for a run"),
    Limit("FRAME_BYTES", 5 * MIB, "bytes", "one WebSocket frame from a client"),
    Limit("SMALL_FRAME_BYTES", 64 * 1024, "bytes", "one frame of a command that carries no bundle"),
    Limit("FRAME_BYTES_PER_SECOND", MIB, "bytes", "sent by one connection, averaged over ten seconds"),
    Limit("FRAMES_PER_SECOND", 60, "frames", "frames of one connection, averaged over ten seconds"),
    Limit(
        "SOCKETS_PER_ADDRESS", 800, "connections", "open WebSockets of one address (a lecture hall has one)"
    ),
    Limit("COMMENT_CHARACTERS", 4_000, "characters", "text of one comment"),
    Limit("COMMENTS_PER_SCENARIO", 500, "comments", "comments on one scenario"),
    Limit("COMMENTS_PER_MINUTE", 30, "requests", "comments of one address, written or changed"),
    Limit("COMMENTS_PER_VISITOR", 15, "requests", "the same of one visitor, a minute"),
    Limit("ROOM_VIEWERS", 500, "viewers", "viewers of one room in one web process"),
    Limit("ROOM_SECONDS", 86_400, "seconds", "after which a room ends by itself"),
    Limit("ROOM_DAYS", 30, "days", "after which a room's page, with what was asked there, is removed"),
    Limit("ROOM_CODES_PER_MINUTE", 300, "requests", "entering a room by its code, from one address"),
    Limit("ROOMS_PER_OWNER", 20, "rooms", "rooms of one owner that are not over"),
    Limit("ROOMS_PER_ADDRESS", 40, "rooms", "the same of one address"),
    Limit("ROOMS", 1_000, "rooms", "the same of everybody"),
    Limit("ROOMS_PER_MINUTE", 20, "requests", "rooms opened from one address"),
    Limit("ROOM_JOINS_PER_MINUTE", 3_000, "requests", "joining a room, of one address"),
    Limit("ROOM_JOINS_PER_VISITOR", 60, "requests", "the same of one visitor, a minute"),
    Limit("ROOM_VOTES_PER_MINUTE", 3_000, "requests", "votes of one address"),
    Limit("ROOM_VOTES_PER_VISITOR", 60, "requests", "the same of one visitor, a minute"),
    Limit("ROOM_QUESTIONS_PER_MINUTE", 60, "requests", "questions asked from one address"),
    Limit(
        "LESSON_ANSWERS_PER_MINUTE",
        3_000,
        "requests",
        "answers to questions of lessons, and hints, from one address (a lecture hall has one)",
    ),
    Limit("PROGRESS_BYTES", 256 * 1024, "bytes", "how far one account is with the lessons, as JSON"),
    Limit("PROGRESS_DAYS", 365, "days", "such progress that no browser read or changed for longer expires"),
    Limit("PROGRESS_PER_ACCOUNT", 30, "requests", "reading or changing one account's progress, a minute"),
    Limit(
        "PROGRESS_PER_MINUTE",
        3_000,
        "requests",
        "the same from one address (a lecture hall has one)",
    ),
    Limit("LESSONS_PER_OWNER", 50, "lessons", "lessons that one visitor writes or has imported"),
    Limit("LESSON_BYTES", 2 * MIB, "bytes", "all files of such a lesson"),
    Limit("LESSON_DAYS", 365, "days", "such a lesson that nobody opened or changed for longer expires"),
    Limit(
        "LESSON_LINK_SECONDS",
        21_600,
        "seconds",
        "until a link in PLAYGROUND_LESSONS is fetched again; a quarter of an hour at most if it failed",
        least=60,
    ),
    Limit("LESSON_CHANGES_PER_MINUTE", 240, "requests", "changes of such lessons, from one address"),
    Limit("LTI_LAUNCHES_PER_MINUTE", 3_000, "requests", "logins and launches of lessons from one address"),
    Limit("LTI_TOKEN_BYTES", 65_536, "bytes", "one signed message of a learning platform"),
    Limit("LTI_DAYS", 365, "days", "a launched lesson that nobody opened or changed for longer is forgotten"),
    Limit("LRS_QUEUED", 20_000, "statements", "waiting for the record store; further ones are dropped"),
    Limit(
        "LRS_PER_MINUTE",
        600,
        "statements",
        "for the record store about visitors of one address; further ones are dropped",
    ),
    Limit("LRS_TRIES", 12, "tries", "to send a statement before it is dropped"),
    Limit("LTI_TRIES", 10, "tries", "to send a score before it is given up"),
    Limit(
        "CONNECTIONS",
        4_000,
        "connections",
        "open connections of a web process; who waits longest for a request makes room for a new one",
    ),
    Limit("CONNECTIONS_PER_ADDRESS", 1_000, "connections", "of these, from one address without a proxy"),
    Limit("HEAD_BYTES", 64 * 1024, "bytes", "line and headers of one request"),
    Limit("HEAD_SECONDS", 10, "seconds", "until a connection has sent line and headers of a request"),
    Limit("STALL_SECONDS", 20, "seconds", "a client may pause in a body, a message, or reading an answer"),
    Limit("TRANSFER_RATE", 1_024, "bytes", "a second that a client has to send or read after such a pause"),
    Limit("OUTGOING_FRAMES", 256, "frames", "frames waiting for a slow client before it is disconnected"),
    Limit("WINDOW_CYCLES", 100, "cycles", "cycles of one `cycles.window` answer"),
    Limit("MARKS", 20_000, "marks", "marks of one `timeline.get` answer"),
    Limit("EVENTS", 500, "events", "events of one `events.list` answer"),
    Limit("API_WRITES_PER_MINUTE", 60, "requests", "POST and DELETE of one address"),
    Limit("API_READS_PER_MINUTE", 1_200, "requests", "GET of one address"),
    Limit("IMPORTS_PER_MINUTE", 400, "requests", "imports, forks, shares, runs and reports of one address"),
    Limit("TRACE_CELLS", 15_000_000, "nodes × cycles", "size of one trace download"),
    Limit("RECORDING_CELLS", 2_000_000, "nodes × cycles", "size of a run that is saved as one HTML file"),
    Limit("RECORDING_CYCLES", 5_000, "cycles", "of such a run"),
    Limit("RECORDING_MIB", 256, "MiB", "the answers in such a file, before they are compressed"),
    Limit("TRACE_DOWNLOADS", 4, "downloads", "trace downloads at once of a web process", least=0),
    Limit(
        "DATABASE_WAIT_SECONDS",
        10,
        "seconds",
        "waiting for a connection to the database, or for SQLite's lock, before 503",
    ),
    Limit("DATABASE_STATEMENT_SECONDS", 30, "seconds", "one statement in PostgreSQL, before 503"),
    Limit("CACHE_WAIT_SECONDS", 2, "seconds", "waiting for Redis before a process counts by itself"),
    Limit(
        "DISK_FREE_BYTES",
        256 * MIB,
        "bytes",
        "free where the data are; below it /readyz answers 503",
        least=0,
    ),
    Limit(
        "TRUSTED_PROXIES",
        0,
        "proxies",
        "reverse proxies in front, whose X-Forwarded-For and -Proto are believed",
        least=0,
    ),
    Limit(
        "HSTS_SECONDS",
        31_536_000,
        "seconds",
        "Strict-Transport-Security, sent over TLS only; 0 sends none",
        least=0,
    ),
)


def limit(name: str) -> int:
    """Return the current value of the limit ``name``."""
    value: int = settings.PLAYGROUND[name]
    return value
