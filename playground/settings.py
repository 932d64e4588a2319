"""All settings, from the environment; with nothing set, everything runs embedded on one machine.

``DATABASE_URL``, ``REDIS_URL``, ``CELERY_BROKER_URL``, ``SECRET_KEY``, ``SECRET_KEY_FALLBACKS``,
``ALLOWED_HOSTS``, ``DEBUG`` and ``PORT`` are the only variables besides those of the metrics
(``PLAYGROUND_METRICS_TOKEN``, ``PLAYGROUND_METRICS_ALLOW``) and of the extenders
(``PLAYGROUND_EXTENDERS``, ``PLAYGROUND_EXTENDER_NETWORKS``), of lessons (``PLAYGROUND_LESSONS``), of learning
platforms (``PLAYGROUND_LTI``, ``PLAYGROUND_LTI_KEY``) and of a record store (``PLAYGROUND_LRS``,
``PLAYGROUND_LRS_HOME``), the limits of :mod:`playground.limits`
(``PLAYGROUND_<NAME>``) and ``PLAYGROUND_DATA_DIR``, the folder of the embedded database, broker and secret
(default ``var/``, of an installed wheel the user's data folder).
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import structlog

import scheduler_core
from playground.limits import LIMITS
from playground.queues import DELIVER_SECONDS, DELIVER_TASK, LONG, QUEUES, SHORT
from playground.serving import data_folder
from playground.serving.environment import Environment

env = Environment(os.environ)

BASE_DIR = Path(__file__).resolve().parent.parent
# Templates, static files and documents: a wheel has them inside this package.
_WHEEL = BASE_DIR / "playground" / "site"
INSTALLED = _WHEEL.is_dir()
SITE_DIR = _WHEEL if INSTALLED else BASE_DIR
_data = data_folder.of_user() if INSTALLED else BASE_DIR / "var"
DATA_DIR = Path(env.text("PLAYGROUND_DATA_DIR", str(_data))).absolute()
data_folder.make(DATA_DIR)

VERSION = scheduler_core.__version__
DEBUG = env.flag("DEBUG", False)
PORT = env.number("PORT", 8000, least=1, most=65_535)
ALLOWED_HOSTS = env.hosts("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
# Access to /metrics: with the token, if one is set, or from peers in these networks.
METRICS_TOKEN = env.text("PLAYGROUND_METRICS_TOKEN", "")
METRICS_ALLOW = env.networks("PLAYGROUND_METRICS_ALLOW", default=["127.0.0.0/8", "::1/128"])
LESSONS = env.text("PLAYGROUND_LESSONS", "")
# Platforms whose courses may launch lessons, and the key by which they know what this server signs.
LTI_PLATFORMS = env.platforms("PLAYGROUND_LTI")
_lti_key = env.text("PLAYGROUND_LTI_KEY", str(DATA_DIR / "lti-key.pem"))
# Where answers in lessons are sent as xAPI statements, and the address by which they name this server.
LRS = env.record_store("PLAYGROUND_LRS")
LRS_HOME = env.home("PLAYGROUND_LRS_HOME", needed=bool(LRS))
# URLs below which extenders may be called, and networks beside the public ones that their names may be in.
EXTENDERS = env.prefixes("PLAYGROUND_EXTENDERS")
EXTENDER_NETWORKS = env.networks("PLAYGROUND_EXTENDER_NETWORKS", default=[], strict=True)
PLAYGROUND = {
    row.name: env.number(f"PLAYGROUND_{row.name}", row.default, row.least, row.most) for row in LIMITS
}
BROKERS = ("redis", "rediss", "sentinel", "amqp", "amqps", "filesystem")
REDIS_URL = env.url("REDIS_URL", "", ("redis", "rediss", "unix"))
CELERY_BROKER_URL = env.url("CELERY_BROKER_URL", "filesystem://", BROKERS)
SQLITE: dict[str, Any] = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(DATA_DIR / "podstep.sqlite3")}
DATABASES: dict[str, dict[str, Any]] = {"default": env.database("DATABASE_URL", SQLITE)}
_secret = env.text("SECRET_KEY", "")
env.check()

if not _secret or DATABASES["default"] is SQLITE or CELERY_BROKER_URL.startswith("filesystem:"):
    data_folder.require_writable(DATA_DIR)
SECRET_KEY = _secret or data_folder.secret(DATA_DIR / "secret")
LTI_KEY = data_folder.private_key(Path(_lti_key)) if LTI_PLATFORMS else ""
#: Previous keys: their signatures are accepted, but nothing is signed with them.
SECRET_KEY_FALLBACKS = [key for key in env.text("SECRET_KEY_FALLBACKS", "").split(",") if key]

# --- the application -------------------------------------------------------------------------

INSTALLED_APPS = [
    "channels",
    "django.contrib.auth",
    "django.contrib.contenttypes",  # of auth's permissions, which nobody here has
    "django.contrib.humanize",
    "django.contrib.staticfiles",
    "playground",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "playground.serving.middleware.headers",
    "playground.serving.middleware.Refusals",
    "playground.serving.middleware.files",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "playground.serving.middleware.PagesPacked",
    "django.middleware.common.CommonMiddleware",
    "playground.serving.middleware.own_pages",
    "django.middleware.csrf.CsrfViewMiddleware",
    "playground.serving.middleware.visitors",
    "playground.serving.middleware.Outages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "playground.urls"
ASGI_APPLICATION = "playground.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [SITE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "playground.accounts.offered",
            ]
        },
    }
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
# Of the pages of lessons; all others are English (playground.serving.languages).
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LANGUAGE_COOKIE_NAME = "podstep_language"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

# --- database, cache ---------------------------------------------------------------------------

SQLITE_PRAGMAS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
if DATABASES["default"]["ENGINE"] == SQLITE["ENGINE"]:
    data_folder.check_database(Path(DATABASES["default"]["NAME"]))
    DATABASES["default"]["OPTIONS"] = {
        # IMMEDIATE: two writers wait for each other; with the default mode one of them would fail
        # immediately when it upgrades from reading to writing.
        "transaction_mode": "IMMEDIATE",
        "timeout": PLAYGROUND["DATABASE_WAIT_SECONDS"],
        "init_command": SQLITE_PRAGMAS,
    }
    # A file, because threads cannot share an in-memory database and the tests use threads.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
else:
    # Under ASGI every request has its own thread: a connection that outlives its request would never be
    # reused, and PostgreSQL would soon run out of connections.
    DATABASES["default"]["CONN_MAX_AGE"] = 0
    # The storage threads alone keep theirs (playground.playback.executor).
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    # The kernel detects a server that disappeared silently, by unacknowledged data and by keepalives on idle
    # connections. DATABASE_URL may override these options (?connect_timeout=…).
    DATABASES["default"]["OPTIONS"] = {
        "connect_timeout": PLAYGROUND["DATABASE_WAIT_SECONDS"],
        "tcp_user_timeout": 1_000 * PLAYGROUND["DATABASE_WAIT_SECONDS"],  # milliseconds
        "keepalives_idle": PLAYGROUND["DATABASE_WAIT_SECONDS"],
        "keepalives_interval": 2,
        "keepalives_count": 3,
        # manage.py prepare and cleanup lift it (playground.runtime.outage.lift_statement_timeout).
        "options": f"-c statement_timeout={PLAYGROUND['DATABASE_STATEMENT_SECONDS']}s",
        **DATABASES["default"].get("OPTIONS", {}),
    }

CACHES: dict[str, dict[str, Any]]
# A web process has one channel of the layer for all of its rooms (playground.live.hub). Connections use none,
# which would tie every WebSocket to a Redis connection, and close it with that: they read changes of other
# rows from the database (playground.live.notifications).
CHANNEL_LAYERS: dict[str, dict[str, Any]]
if REDIS_URL:
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.core.RedisChannelLayer",
            "CONFIG": {
                "hosts": [REDIS_URL],
                "prefix": "podstep.rooms",
                "capacity": 2_000,
                "expiry": 10,
                "group_expiry": 2 * PLAYGROUND["ROOM_SECONDS"],
            },
        }
    }
    CACHES = {
        "default": {
            "BACKEND": "playground.serving.shared_cache.SharedCache",
            "LOCATION": REDIS_URL,
            "OPTIONS": {
                "socket_timeout": PLAYGROUND["CACHE_WAIT_SECONDS"],
                "socket_connect_timeout": PLAYGROUND["CACHE_WAIT_SECONDS"],
            },
        }
    }
else:
    CHANNEL_LAYERS = {
        "default": {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": {"capacity": 2_000}}
    }
    CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            "OPTIONS": {"MAX_ENTRIES": 20_000},
        }
    }

# --- worker ------------------------------------------------------------------------------------

CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits indefinitely for its broker
CELERY_TASK_IGNORE_RESULT = True  # the run's row has the complete result
CELERY_TASK_SERIALIZER = "json"
# A worker started without queues serves all.
CELERY_TASK_QUEUES = {name: {"exchange": name, "routing_key": name} for name in QUEUES}
CELERY_TASK_DEFAULT_QUEUE = LONG
# So that a busy worker holds no message that an idle one could take; duplicate messages are harmless.
CELERY_TASK_ACKS_LATE = True
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Seconds to wait for the result of a process that died: there are no results.
CELERY_WORKER_LOST_WAIT = 0.5
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# One process per run: memory of a large run is returned to the system, and its peak is measured separately.
CELERY_WORKER_MAX_TASKS_PER_CHILD = 1
# A run is resumed from its chunks, so a worker that is asked to stop need not finish it first.
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 3.0
# Without a state file: scheduled tasks are due again soon after a restart, and are idempotent.
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"
CELERY_BEAT_SCHEDULE: dict[str, Any] = {
    "expiry": {
        "task": "playground.expiry",
        "schedule": float(PLAYGROUND["EXPIRY_SECONDS"]),
        # Long runs may occupy their processes for an hour; expired messages do not pile up.
        "options": {"queue": SHORT, "expires": PLAYGROUND["EXPIRY_SECONDS"]},
    },
    # Always: what is due is known by web servers and workers, and beat may lack their variables.
    "deliver": {
        "task": DELIVER_TASK,
        "schedule": float(DELIVER_SECONDS),
        "options": {"queue": SHORT, "expires": DELIVER_SECONDS},
    },
}
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {}
if CELERY_BROKER_URL.startswith("filesystem:"):
    _queue = DATA_DIR / "broker" / "queue"
    data_folder.make(_queue)
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(_queue),
        "polling_interval": 0.1,
    }
elif CELERY_BROKER_URL.startswith(("redis:", "rediss:")):
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "visibility_timeout": PLAYGROUND["RUN_SECONDS"] + 600,
        "socket_timeout": 10,
        "socket_connect_timeout": 5,
    }
    # After a lost connection to Redis, the count of reserved messages no longer matches that of the running
    # tasks, and a worker busy with a long run would hold a short one's message. Other brokers refuse this.
    CELERY_WORKER_DISABLE_PREFETCH = True

# --- static files --------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS: list[Any] = [SITE_DIR / "static"]
if (_plotly := find_spec("plotly")) and _plotly.origin:
    # plotly.min.js from the Python package, at /static/plotly/plotly.min.js
    STATICFILES_DIRS.append(("plotly", str(Path(_plotly.origin).parent / "package_data")))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    # File names without a hash: ES modules import each other by relative path.
    # The bundles of playground/serving/built.py have one.
    "staticfiles": {"BACKEND": "playground.serving.static_storage.StaticFiles"},
}
# Without `collectstatic` (one machine, development) files are served from their source folders.
data_folder.make(STATIC_ROOT)
WHITENOISE_USE_FINDERS = DEBUG or not any(STATIC_ROOT.iterdir())
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_MAX_AGE = 0 if DEBUG else 300
WHITENOISE_IMMUTABLE_FILE_TEST = r"/built/[a-z]+-[0-9A-Z]{8}\.(css|js)$"

# --- security -------------------------------------------------------------------------------------

AUTH_USER_MODEL = "playground.Account"
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ["username"]},
    },
    {"NAME": "playground.accounts.passwords.SignsOutElsewhere"},
]
CSRF_TRUSTED_ORIGINS = [
    f"https://{host}" for host in ALLOWED_HOSTS if host != "*" and not host.startswith("[")
]
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = False
CSRF_FAILURE_VIEW = "playground.serving.error_pages.csrf_failed"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = PLAYGROUND["HSTS_SECONDS"]  # Django sends it over TLS only
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PLAYGROUND["TRUSTED_PROXIES"] else None
X_FRAME_OPTIONS = "DENY"
VISITOR_COOKIE = "podstep_visitor"
VISITOR_COOKIE_AGE = 400 * 24 * 3600

DATA_UPLOAD_MAX_MEMORY_SIZE = None  # playground.serving.bodies limits every body before Django reads it
DATA_UPLOAD_MAX_NUMBER_FIELDS = 50
DATA_UPLOAD_MAX_NUMBER_FILES = PLAYGROUND["UPLOAD_FILES"]
FILE_UPLOAD_MAX_MEMORY_SIZE = 2_621_440
SILENCED_SYSTEM_CHECKS: list[str] = []

# --- logging ------------------------------------------------------------------------------------

_shared_processors: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
structlog.configure(
    processors=[
        structlog.stdlib.filter_by_level,
        *_shared_processors,
        structlog.processors.format_exc_info,
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    wrapper_class=structlog.stdlib.BoundLogger,
    cache_logger_on_first_use=True,
)
_renderer: Any = (
    structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    if DEBUG or sys.stderr.isatty()
    else structlog.processors.JSONRenderer()
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "structured": {
            "()": structlog.stdlib.ProcessorFormatter,
            "foreign_pre_chain": [*_shared_processors, structlog.processors.format_exc_info],
            "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, _renderer],
        }
    },
    # An outage is logged at its beginning and end (playground.runtime.outage), not for each failed request.
    "filters": {
        "no_outages": {
            "()": "django.utils.log.CallbackFilter",
            "callback": lambda record: getattr(record, "status_code", 0) not in {503, 507},
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "structured"}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "django": {"level": "INFO"},
        # A mistyped URL is not worth a log line; a failed request is.
        "django.request": {"level": "ERROR", "filters": ["no_outages"]},
        "django.security.DisallowedHost": {"level": "ERROR"},
        # By name, because Celery sets the root logger's level to that of its command line.
        "playground": {"level": "INFO"},
        "celery": {"level": "INFO"},
        "uvicorn.access": {"level": "WARNING"},
    },
}
