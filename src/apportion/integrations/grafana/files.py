"""The files that Grafana reads: dashboards as JSON, and where they and their data sources are."""

import json

from apportion.integrations.grafana.finance import FINANCE
from apportion.integrations.grafana.health import HEALTH
from apportion.integrations.grafana.overview import OVERVIEW
from apportion.integrations.grafana.pool import POOL
from apportion.integrations.grafana.team import TEAM

DASHBOARDS = (OVERVIEW, TEAM, POOL, FINANCE, HEALTH)
PROVIDER = """\
# Where Grafana finds the dashboards: copy `dashboards/` to this path, or write another.
apiVersion: 1
providers:
  - name: apportion
    folder: Apportion
    type: file
    allowUiUpdates: false
    options:
      path: /var/lib/grafana/dashboards/apportion
"""
SOURCES = """\
# Edit the addresses. Grafana reads $NAME from its environment: no password stands here.
apiVersion: 1
datasources:
  - name: Apportion metrics
    uid: apportion-metrics
    type: prometheus
    access: proxy
    url: http://localhost:9090
    jsonData:
      httpMethod: POST
      timeInterval: 60s
  # Only where the books are in PostgreSQL, after `apportion views`; a role that may read the views and nothing else is enough.
  - name: Apportion ledger
    uid: apportion-ledger
    type: grafana-postgresql-datasource
    access: proxy
    url: localhost:5432
    user: apportion_reader
    jsonData:
      database: apportion
      sslmode: require
    secureJsonData:
      password: $APPORTION_READER_PASSWORD
"""


def files(currency: str, address: str = "") -> dict[str, str]:
    """`address` of the pages, to which dashboards then lead."""
    made = {f"dashboards/{one.name}.json": text_of(one.json(currency, address)) for one in DASHBOARDS}
    return {
        **made,
        "provisioning/dashboards/apportion.yaml": PROVIDER,
        "provisioning/datasources/apportion.yaml": SOURCES,
    }


def text_of(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
