"""The ledger as assets of Dagster: a partition for each day brings its month up to date, a partition for each month closes it.

APPORTION_PROJECT names the project. Every step may run again: what is in the books already changes nothing.
"""

import os

import dagster as dg

import apportion

ZONE = "UTC"  # the policy's time zone, so that a partition is a day of the ledger
DAYS = dg.DailyPartitionsDefinition(start_date="2026-10-01", timezone=ZONE)
MONTHS = dg.MonthlyPartitionsDefinition(start_date="2026-10-01", timezone=ZONE)
ONE_AT_A_TIME = {"pool": "apportion"}  # what one run reads moves the inputs that another has planned with


@dg.asset(partitions_def=DAYS, **ONE_AT_A_TIME)
def ledger(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    """What is due is read, and the month of the day is planned and posted."""
    project, month = apportion.open_project(os.environ["APPORTION_PROJECT"]), context.partition_key[:7]
    apportion.ingest(project)
    planned = apportion.plan(project, month)
    posted = apportion.apply(project, month)
    return dg.MaterializeResult(
        metadata={"month": month, "tally": planned.tally, "entries": posted.entries, "head": posted.head}
    )


@dg.asset(
    partitions_def=MONTHS, deps=[dg.AssetDep(ledger, partition_mapping=dg.AllPartitionMapping())], **ONE_AT_A_TIME
)
def closed_month(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    """A month that some check says no to fails, with what mends it, and can be tried again."""
    project, month = apportion.open_project(os.environ["APPORTION_PROJECT"]), context.partition_key[:7]
    done = apportion.close(project, month)
    if done.closed is None:
        raise dg.Failure("\n".join(f"{look.name}: {look.text}; {look.fix}" for look in done.against))
    return dg.MaterializeResult(metadata={"month": month, "again": done.again, "head": done.closed.head})


defs = dg.Definitions(
    assets=[ledger, closed_month],
    schedules=[
        dg.build_schedule_from_partitioned_job(dg.define_asset_job("daily", selection=[ledger])),
        dg.build_schedule_from_partitioned_job(
            dg.define_asset_job("monthly", selection=[closed_month]), day_of_month=5
        ),
    ],
    executor=dg.in_process_executor,  # a run is one step
)
