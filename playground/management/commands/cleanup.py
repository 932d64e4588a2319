"""``manage.py cleanup``: remove drafts, runs and workers that nobody has touched for long."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from playground import outage, store
from playground.limits import limit
from playground.models import UNFINISHED, Draft, Run, Scenario, Worker


class Command(BaseCommand):
    help = "Remove drafts and finished runs older than PLAYGROUND_DRAFT_DAYS and PLAYGROUND_RUN_DAYS."

    def handle(self, *args: Any, **options: Any) -> None:
        """Delete what is old, then the scenarios that nothing points at any more."""
        outage.patient()
        now = timezone.now()
        drafts, _ = Draft.objects.filter(updated__lt=now - timedelta(days=limit("DRAFT_DAYS"))).delete()
        old = now - timedelta(days=limit("RUN_DAYS"))
        ended = Run.objects.exclude(state__in=UNFINISHED).filter(finished__lt=old)
        runs = ended.count()
        ended.delete()
        Worker.objects.filter(seen__lt=now - timedelta(days=1)).delete()
        scenarios = 0
        for row in Scenario.objects.filter(shares=None, runs=None).only("pk").iterator():
            store.forget_unreferenced(row)
            scenarios += 1
        self.stdout.write(f"removed {drafts} drafts, {runs} runs, {scenarios} scenarios")
