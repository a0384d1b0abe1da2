"""Any work source, while our own network may be away: nothing is claimed but single probes, and nothing is charged."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic
from uuid import UUID

from headwater.errors import NetworkDown
from headwater.lease_worker import AnyLease, LeaseWorker, WorkSource
from headwater.load import FEWEST, Load
from headwater.net.outage import SOON_S, NetworkWatch
from headwater.services import Services
from headwater.settling import Settling


def patient_worker(
    services: Services, work_source: WorkSource[AnyLease], size: int, settling: Settling
) -> LeaseWorker[AnyLease]:
    """More are taken on while failures are held back: with a small worker they would wait for each other.

    A size of 0 follows the load.
    """
    network = services.network
    lease_worker = LeaseWorker(
        Patient(work_source, network),
        services.clock,
        services.log,
        size or FEWEST,
        services.settings.lease.duration,
        load=None if size else Load(waited=lambda: services.database.waits.seconds),
        settling=settling,
        figures=services.figures,
        drain=services.drain,
        idle=network.held,
    )
    network.on_held.append(lease_worker.look_again)
    return lease_worker


@dataclass(frozen=True, slots=True)
class Patient(Generic[AnyLease]):
    work_source: WorkSource[AnyLease]
    network: NetworkWatch

    async def claim(self, most: int) -> tuple[Sequence[AnyLease], timedelta | None]:
        if not self.network.is_down:
            leases, come_back_in = await self.work_source.claim(most)
            is_soon = come_back_in is not None and come_back_in.total_seconds() <= SOON_S
            self.network.expect(self, is_more=bool(leases) or is_soon)
            return leases, come_back_in
        wait = self.network.wait_before_probe()
        if wait > timedelta():
            return (), wait
        # Before the claim: another role of this process may ask meanwhile.
        self.network.begin_probe()
        leases, _ = await self.work_source.claim(1)
        return leases, self.network.wait_before_probe()

    async def claim_alone(self) -> AnyLease | None:
        return None if self.network.is_down else await self.work_source.claim_alone()

    async def has_lonely_work(self) -> bool:
        return not self.network.is_down and await self.work_source.has_lonely_work()

    async def work(self, lease: AnyLease) -> None:
        try:
            with self.network.working():
                await self.work_source.work(lease)
        except NetworkDown:
            await self.work_source.release([lease])

    async def extend(self, leases: Sequence[AnyLease]) -> Collection[UUID]:
        return await self.work_source.extend(leases)

    async def release(self, leases: Sequence[AnyLease]) -> None:
        await self.work_source.release(leases)

    async def release_all_but(self, held: Collection[UUID]) -> None:
        await self.work_source.release_all_but(held)

    async def rest(self, come_back_in: timedelta | None) -> None:
        if not self.network.is_down:
            await self.work_source.rest(come_back_in)
            return
        # Not by the work source's own ways: news of work would only wake it for nothing.
        wait = self.network.wait_before_probe() if come_back_in is None else come_back_in
        await self.network.until_news(max(0.0, wait.total_seconds()))

    def named(self, lease: AnyLease) -> dict[str, Any]:
        return self.work_source.named(lease)
