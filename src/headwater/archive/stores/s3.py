"""Raw bodies in an S3-compatible store, by obstore: Rust's object_store, without a client of Python's in between."""

import re
from collections.abc import Awaitable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

from headwater.archive.stores.store import Listed, StoreKind, id_in, path_of
from headwater.errors import SettingError, StoreDown
from headwater.settings.groups import ArchiveSettings

if TYPE_CHECKING:
    from obstore.store import S3Config, S3Store

# Of one request; a page's lease goes on meanwhile, and after a failure the database takes the body.
TIMEOUT, RETRIES = timedelta(seconds=10), 1
CLOCK = "clock"
_CODE = re.compile(r"<Code>([A-Za-z0-9]{1,60})</Code>")
_STATUS = re.compile(r"returned non-2xx status code: (\d{3} [A-Za-z ]{1,40})")
_REASON = re.compile(r"(?:HTTP error|Client error): ([^\n<]{1,200})")
# A bucket that is not there answers as an object that is not.
NO_BUCKET = "NoSuchBucket"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ObjectStore:
    client: "S3Store"
    bucket: str
    root: str  # prefix and installation
    kind: StoreKind = StoreKind.S3

    @property
    def place(self) -> str:
        return f"s3://{self.bucket}/{self.root}"

    async def put(self, body_id: UUID, body: bytes) -> None:
        import obstore

        # In one request: it is there whole, or not at all, and nothing unfinished is paid for.
        await self._asked(obstore.put_async(self.client, self._key(body_id), body, use_multipart=False))

    async def get(self, body_id: UUID) -> bytes | None:
        import obstore

        try:
            found = await obstore.get_async(self.client, self._key(body_id))
            return bytes(await found.bytes_async())
        except errors_of_client() as error:
            if is_missing(error):
                return None
            raise self._down(error) from error

    async def delete(self, ids: Collection[UUID]) -> None:
        import obstore

        if ids:
            await self._asked(obstore.delete_async(self.client, [self._key(body_id) for body_id in ids]))

    async def listed(self, after: UUID | None, most: int) -> Sequence[Listed]:
        import obstore

        now = await self._now()
        offset = self._key(after) if after else None
        try:
            async for found in obstore.list(self.client, self.root, offset=offset, chunk_size=most):
                named = [(body_id, one) for one in found if (body_id := self._id_in(one["path"]))]
                if named:
                    return [Listed(body_id, now - one["last_modified"]) for body_id, one in named]
        except errors_of_client() as error:
            raise self._down(error) from error
        return []

    async def forget_unfinished(self, age: timedelta) -> int:
        """Nothing is ever unfinished."""
        return 0

    async def _now(self) -> datetime:
        """By the clock that dates objects: of one that is written now."""
        import obstore

        key = f"{self.root}/{CLOCK}"
        await self._asked(obstore.put_async(self.client, key, b"now", use_multipart=False))
        return (await self._asked(obstore.head_async(self.client, key)))["last_modified"]

    async def _asked(self, request: Awaitable[T]) -> T:
        try:
            return await request
        except errors_of_client() as error:
            raise self._down(error) from error

    def _key(self, body_id: UUID) -> str:
        return "/".join((self.root, *path_of(body_id)))

    def _id_in(self, key: str) -> UUID | None:
        """None where somebody else put it there, whatever its name ends in."""
        body_id = id_in(key.rpartition("/")[2])
        return body_id if body_id and key == self._key(body_id) else None

    def _down(self, error: Exception) -> StoreDown:
        said = reason_in(error)
        return StoreDown(f"The store of raw bodies {self.place} does not serve us: {said}.", fix=fix_of(said))


def errors_of_client() -> tuple[type[Exception], ...]:
    from obstore.exceptions import BaseError

    return BaseError, OSError


def is_missing(error: Exception) -> bool:
    return isinstance(error, FileNotFoundError) and NO_BUCKET not in str(error)


def reason_in(error: Exception) -> str:
    """The code, the status or the reason alone: an answer may repeat keys and signatures."""
    text = str(error)
    for pattern in (_CODE, _STATUS, _REASON):
        if found := pattern.search(text):
            return found[1].strip().rstrip(".")
    return type(error).__name__


def fix_of(said: str) -> str:
    if said == NO_BUCKET:
        return "Make the bucket, or correct archive.s3_bucket: it is never made by itself."
    if said in ("InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied") or said.startswith(("401", "403")):
        return "Correct archive.s3_key_id and archive.s3_secret: they need to put, get, list and delete there."
    return "Bring it back, or correct archive.s3_endpoint; meanwhile new bodies are kept in the database."


def object_store(settings: ArchiveSettings, installation: UUID) -> ObjectStore:
    """Raises SettingError where settings do not suffice. Nothing is asked yet."""
    if not settings.s3_bucket:
        raise SettingError("archive.raw_store is s3, and no bucket is named.", fix="Set archive.s3_bucket.")
    if (settings.s3_key_id is None) != (settings.s3_secret is None):
        missing = "s3_secret" if settings.s3_secret is None else "s3_key_id"
        raise SettingError(f"archive.{missing} is missing beside its other half.", fix="Set both, or neither.")
    root = "/".join(filter(None, (settings.s3_prefix, str(installation))))
    return ObjectStore(_client(settings), settings.s3_bucket, root)


def _client(settings: ArchiveSettings) -> "S3Store":
    try:
        from obstore.store import S3Store
    except ImportError as error:
        raise SettingError(
            "Raw bodies in S3 need the client obstore, which is not installed.",
            fix="Run: pip install 'headwater[s3]'",
        ) from error
    config: dict[str, Any] = {"region": settings.s3_region}
    if settings.s3_endpoint:
        config["endpoint"] = settings.s3_endpoint
    if settings.s3_key_id and settings.s3_secret:
        config["access_key_id"] = settings.s3_key_id.get_secret_value()
        config["secret_access_key"] = settings.s3_secret.get_secret_value()
    return S3Store(
        settings.s3_bucket,
        config=cast("S3Config", config),
        client_options={
            "timeout": TIMEOUT,
            "connect_timeout": TIMEOUT / 2,
            "allow_http": settings.s3_endpoint.startswith("http://"),
        },
        retry_config={"max_retries": RETRIES, "retry_timeout": TIMEOUT},
    )
