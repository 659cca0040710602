# syntax=docker/dockerfile:1
# One image for the server, `sync` and the agent; docs/how-to/run-in-a-container.md says how to build, pin and run it.
# Every part is named by a lock and checked by its hash. The image runs as nobody in particular and writes to /tmp and /project alone.
ARG PYTHON=3.13.9-slim-trixie

FROM python:${PYTHON} AS wheel
WORKDIR /build
COPY requirements-build.lock ./
RUN python -m pip install --no-cache-dir --disable-pip-version-check --require-hashes --only-binary :all: -r requirements-build.lock
COPY pyproject.toml hatch_build.py README.md LICENSE NOTICE ./
COPY licenses ./licenses
COPY src ./src
RUN python -m pip wheel --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .

FROM python:${PYTHON} AS environment
# The lock says which extras are in it; another is made as `make lock` makes this one.
ARG LOCK=requirements-server.lock
WORKDIR /build
COPY ${LOCK} requirements.lock
RUN python -m venv --without-pip /opt/apportion \
    && python -m pip --python /opt/apportion/bin/python install --no-cache-dir --disable-pip-version-check --require-hashes --only-binary :all: -r requirements.lock
COPY --from=wheel /build/dist ./dist
# The parts' own tests are a tenth of all, and nobody runs them here.
RUN python -m pip --python /opt/apportion/bin/python install --no-cache-dir --disable-pip-version-check --no-deps --no-index dist/*.whl \
    && find /opt/apportion -type d -name tests -prune -exec rm -rf {} +

FROM python:${PYTHON} AS apportion
LABEL org.opencontainers.image.title="Apportion" \
      org.opencontainers.image.description="Says who owes what for shared ML training infrastructure, and can prove it." \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=environment /opt/apportion /opt/apportion
RUN install --directory --owner=10001 --group=10001 /project
# No bytecode and no caches are written at run time: all of it was compiled above, and what is temporary goes to /tmp.
ENV PATH=/opt/apportion/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/tmp \
    TMPDIR=/tmp \
    APPORTION_PROJECT=/project
WORKDIR /project
USER 10001:10001
EXPOSE 8765
STOPSIGNAL SIGTERM
# Not every command is a server. Whoever runs one asks /livez and /readyz, as the Helm chart does.
HEALTHCHECK NONE
ENTRYPOINT ["apportion"]
CMD ["--help"]
