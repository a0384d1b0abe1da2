"""`headwater simweb`: the simulated web, to look at in a browser."""

from cyclopts import App

from headwater.cli.launch import run_to_end
from headwater.cli.numbers import require_number
from headwater.cli.output import say, show

app = App(name="simweb", help="The simulated web, to look at.")


@app.command(name="serve")
def serve(*, seed: int = 1, publishers: int = 200, port: int = 8080, pace: float = 60.0) -> None:
    """Serve a simulated web on this machine until Ctrl-C.

    Parameters
    ----------
    seed
        Equal seeds give equal webs.
    publishers
        How many sites publish in it.
    port
        Where to listen on 127.0.0.1; 0 picks a free one.
    pace
        Simulated seconds per real second.
    """
    require_number("--pace", pace, 0.001, 31_536_000)
    run_to_end(_serve(seed, publishers, port, pace))


async def _serve(seed: int, publishers: int, port: int, pace: float) -> None:
    import asyncio

    from headwater.simweb.play import play_world

    async with play_world(seed=seed, publishers=publishers, port=port, pace=pace) as playing:
        say(f"{len(playing.web.sites):,} hosts, simulated time {playing.clock.now():%Y-%m-%d %H:%M} × {pace:g}")
        show(f"http://127.0.0.1:{playing.port}/")
        say("Ctrl-C stops it.")
        await asyncio.Event().wait()
