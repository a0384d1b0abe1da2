"""Any trade, while our own network may be away: nothing is claimed but single probes, and nothing is charged."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic
from uuid import UUID

from headwater.crew import Crew, Lease, Trade
from headwater.errors import NetworkDown
from headwater.load import FEWEST, Load
from headwater.net.outage import SOON_S, NetworkWatch
from headwater.services import Services
from headwater.settling import Settling


def patient_crew(services: Services, trade: Trade[Lease], size: int, settling: Settling) -> Crew[Lease]:
    """More are taken on while failures are held back: with a small crew they would wait for each other.

    A size of 0 follows the load.
    """
    network = services.network
    crew = Crew(
        Patient(trade, network),
        services.clock,
        services.log,
        size or FEWEST,
        services.settings.lease.duration,
        load=None if size else Load(waited=lambda: services.database.waits.seconds),
        settling=settling,
        figures=services.figures,
        idle=network.held,
    )
    network.told_of_held.append(crew.look_again)
    return crew


@dataclass(frozen=True, slots=True)
class Patient(Generic[Lease]):
    trade: Trade[Lease]
    network: NetworkWatch

    async def claim(self, most: int) -> tuple[Sequence[Lease], timedelta | None]:
        if not self.network.is_down:
            leases, come_back_in = await self.trade.claim(most)
            is_soon = come_back_in is not None and come_back_in.total_seconds() <= SOON_S
            self.network.expect(self, is_more=bool(leases) or is_soon)
            return leases, come_back_in
        wait = self.network.wait_before_probe()
        if wait > timedelta():
            return (), wait
        # Before the claim: another role of this process may ask meanwhile.
        self.network.begin_probe()
        leases, _ = await self.trade.claim(1)
        return leases, self.network.wait_before_probe()

    async def claim_alone(self) -> Lease | None:
        return None if self.network.is_down else await self.trade.claim_alone()

    async def has_lonely_work(self) -> bool:
        return not self.network.is_down and await self.trade.has_lonely_work()

    async def work(self, lease: Lease) -> None:
        try:
            with self.network.working():
                await self.trade.work(lease)
        except NetworkDown:
            await self.trade.release([lease])

    async def extend(self, leases: Sequence[Lease]) -> Collection[UUID]:
        return await self.trade.extend(leases)

    async def release(self, leases: Sequence[Lease]) -> None:
        await self.trade.release(leases)

    async def release_all_but(self, held: Collection[UUID]) -> None:
        await self.trade.release_all_but(held)

    async def rest(self, come_back_in: timedelta | None) -> None:
        if not self.network.is_down:
            await self.trade.rest(come_back_in)
            return
        # Not by the trade's own ways: news of work would only wake it for nothing.
        wait = self.network.wait_before_probe() if come_back_in is None else come_back_in
        await self.network.until_news(max(0.0, wait.total_seconds()))

    def named(self, lease: Lease) -> dict[str, Any]:
        return self.trade.named(lease)
