"""Answers to requests whose work may take long: an operation, or its result where that comes soon enough."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson
from fastapi.encoders import jsonable_encoder
from starlette.responses import JSONResponse, Response

from headwater.serve.api.operations import OperationShape
from headwater.serve.operations import OperationRunner, Progress, StoredOperation

# A caller that waits is answered with the operation after that.
PATIENCE_SECONDS = 30.0
ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {"model": OperationShape, "description": "It takes longer: an operation, which Location leads to."}
}


def accepted(begun: StoredOperation) -> JSONResponse:
    shape = OperationShape.model_validate(begun).model_dump(mode="json")
    return JSONResponse(shape, 202, {"location": f"/api/v1/operations/{begun.id}"})


def located(answer: Response) -> Response:
    """An answer that holds an operation, with the way to it."""
    answer.headers["location"] = f"/api/v1/operations/{orjson.loads(answer.body)['id']}"
    return answer


async def result_or_operation(
    operations: OperationRunner, kind: str, actor: str, work: Callable[[], Awaitable[Mapping[str, Any]]]
) -> JSONResponse:
    """The result, if it comes in time; else the operation, whose work goes on. Raises what the work raised."""
    ended: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()

    async def watched(_progress: Progress) -> Mapping[str, Any]:
        try:
            result = await work()
        except BaseException as error:
            if not ended.done():
                ended.set_exception(error)
                # Also where nobody waits for it any more.
                ended.exception()
            raise
        if not ended.done():
            ended.set_result(result)
        return result

    begun = await operations.begin(kind, actor, watched)
    await asyncio.wait([ended], timeout=PATIENCE_SECONDS)
    return JSONResponse(jsonable_encoder(ended.result())) if ended.done() else accepted(begun)
