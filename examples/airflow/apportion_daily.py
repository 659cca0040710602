"""Two DAGs: every day the month so far is brought up to date; on the fifth day of each month the month before is closed and stated.

Each needs a connection `apportion_default` of type Apportion whose extra names the project: {"project": "/srv/apportion"}.
"""

from datetime import timedelta

import pendulum
from airflow.sdk import DAG, CronDataIntervalTimetable

from apportion.integrations.airflow.operators import (
    ApportionApplyOperator,
    ApportionCloseOperator,
    ApportionIngestOperator,
    ApportionPlanOperator,
    ApportionStatementOperator,
)
from apportion.integrations.airflow.sensors import DataCompleteSensor

ZONE = "UTC"  # the policy's time zone, so that a run's day is a day of the ledger
SETTINGS = {
    "start_date": pendulum.datetime(2026, 10, 1, tz=ZONE),
    "catchup": False,
    "max_active_runs": 1,  # what one run reads moves the inputs that another has planned with
    "default_args": {"retries": 2, "retry_delay": timedelta(minutes=5)},
    "tags": ["costs"],
}

with DAG("apportion_daily", schedule=CronDataIntervalTimetable("0 0 * * *", timezone=ZONE), **SETTINGS):
    (
        ApportionIngestOperator(task_id="ingest")
        >> DataCompleteSensor(task_id="whole", poke_interval=600, timeout=6 * 3600, soft_fail=True)
        >> ApportionPlanOperator(task_id="plan")
        >> ApportionApplyOperator(task_id="apply")
    )

with DAG("apportion_monthly", schedule=CronDataIntervalTimetable("0 6 5 * *", timezone=ZONE), **SETTINGS):
    (
        ApportionIngestOperator(task_id="ingest")
        >> ApportionPlanOperator(task_id="plan")
        >> ApportionApplyOperator(task_id="apply")
        >> ApportionCloseOperator(task_id="close", retries=24, retry_delay=timedelta(hours=1))
        >> ApportionStatementOperator(task_id="statements", to="statements")
    )
