# The one image of web, worker and migrate. The Python is that of Debian 12, which the tests run on.

FROM python:3.11.13-slim-bookworm AS packages
COPY requirements.txt /tmp/requirements.txt
RUN python -m venv /venv
RUN /venv/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r /tmp/requirements.txt

FROM python:3.11.13-slim-bookworm AS browser
WORKDIR /app
COPY .ci/browser-packages .ci/node .ci/wheel .ci/
COPY package.json package-lock.json requirements-build.txt ./
COPY static static
COPY playground/serving/built.py playground/serving/built.py
COPY playground/schemas/reduce.py playground/schemas/reduce.py
RUN env PYTHON=python .ci/browser-packages

FROM python:3.11.13-slim-bookworm AS podstep
RUN useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin podstep
RUN install --directory --owner podstep --group podstep /data
COPY --from=packages /venv /venv
WORKDIR /app
# Without the lock file the build of static/built would count as one of other packages.
COPY LICENSE manage.py package-lock.json ./
COPY docker/answers.py docker/answers.py
COPY scheduler_core scheduler_core
COPY playground playground
COPY templates templates
COPY docs docs
COPY static static
COPY --from=browser /app/static/built static/built
COPY --from=browser /app/static/vendor static/vendor
ENV MALLOC_ARENA_MAX=2 PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PLAYGROUND_DATA_DIR=/data
RUN python -m compileall -q manage.py docker scheduler_core playground
USER podstep
VOLUME /data
EXPOSE 8000
# Alone, without compose: everything in this container, SQLite in the volume.
CMD ["python", "manage.py", "serve", "--host", "0.0.0.0"]
