"""The REST API: one resource, one file, from the same verbs as the command line. What it promises stands in `client/shapes`."""

from fastapi import APIRouter

from apportion.web.api import reports

API = APIRouter(prefix="/api/v1")
API.include_router(reports.router)
