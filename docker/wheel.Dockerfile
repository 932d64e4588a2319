# An image of the package, for one machine: `make dist`, then `docker build -f docker/wheel.Dockerfile -t podstep .`.
# The Python is that of Debian 12, which the tests run on.

FROM python:3.11.13-slim-bookworm AS packages
COPY requirements.txt /tmp/requirements.txt
RUN python -m venv /venv
RUN /venv/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r /tmp/requirements.txt
COPY var/dist/podstep-*.whl /tmp/
RUN /venv/bin/pip install --no-cache-dir --no-deps --no-index /tmp/podstep-*.whl

FROM python:3.11.13-slim-bookworm
RUN useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin podstep
RUN install --directory --owner podstep --group podstep /data
COPY --from=packages /venv /venv
ENV MALLOC_ARENA_MAX=2 PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PLAYGROUND_DATA_DIR=/data
USER podstep
VOLUME /data
EXPOSE 8000
CMD ["podstep", "serve", "--host", "0.0.0.0", "--no-browser"]
