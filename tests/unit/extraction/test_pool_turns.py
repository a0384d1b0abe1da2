from headwater.extraction.pool.turns import MOST_REMEMBERED, Turns

NOW = 1_000.0


def made_heavy(turns: Turns[str], name: str, seconds: float = 10.0) -> None:
    turns.wait(name, "first")
    assert turns.next(NOW) == (name, "first")
    turns.ended(name, seconds, NOW)


def begun(turns: Turns[str], most: int = 100) -> list[str]:
    taken: list[str] = []
    while len(taken) < most and (turn := turns.next(NOW)):
        taken.append(turn[1])
    return taken


def test_a_domain_has_one_line_in_order() -> None:
    turns: Turns[str] = Turns(2)
    for ticket in "abc":
        turns.wait("one.example", ticket)
    assert begun(turns) == ["a", "b", "c"]


def test_domains_that_cost_the_same_take_turns() -> None:
    turns: Turns[str] = Turns(2)
    for number in range(3):
        turns.wait("one.example", f"one {number}")
        turns.wait("two.example", f"two {number}")
    assert begun(turns) == ["one 0", "two 0", "one 1", "two 1", "one 2", "two 2"]


def test_a_domain_that_cost_much_lately_comes_later_and_is_forgiven_in_time() -> None:
    turns: Turns[str] = Turns(2)
    for name, seconds in (("dear.example", 0.9), ("cheap.example", 0.1)):
        turns.wait(name, "first")
        turns.next(NOW)
        turns.ended(name, seconds, NOW)
    for name in ("dear.example", "cheap.example"):
        turns.wait(name, name)
    assert begun(turns, most=1) == ["cheap.example"]
    turns.ended("cheap.example", 0.5, NOW + 600)
    turns.wait("cheap.example", "again")
    assert turns.next(NOW + 600) == ("dear.example", "dear.example")


def test_heavy_pages_of_one_domain_use_half_of_the_children_even_while_nobody_else_waits() -> None:
    turns: Turns[str] = Turns(4)
    made_heavy(turns, "heavy.example")
    for number in range(4):
        turns.wait("heavy.example", str(number))
    assert begun(turns) == ["0", "1"]
    turns.wait("light.example", "light")
    assert begun(turns) == ["light"]
    turns.ended("heavy.example", 10.0, NOW)
    assert begun(turns) == ["2"]


def test_a_domain_is_heavy_as_soon_as_one_of_its_pages_takes_long() -> None:
    turns: Turns[str] = Turns(4)
    for number in range(4):
        turns.wait("heavy.example", str(number))
    assert begun(turns, most=2) == ["0", "1"]
    turns.found_heavy("heavy.example")
    assert begun(turns) == []


def test_heavy_domains_together_leave_one_child() -> None:
    turns: Turns[str] = Turns(3)
    for name in ("a.example", "b.example", "c.example"):
        made_heavy(turns, name)
        turns.wait(name, name)
    assert len(begun(turns)) == 2


def test_a_single_child_reads_heavy_pages_too() -> None:
    turns: Turns[str] = Turns(1)
    made_heavy(turns, "heavy.example")
    turns.wait("heavy.example", "page")
    assert begun(turns) == ["page"]


def test_heavy_neighbours_are_no_backlog() -> None:
    turns: Turns[str] = Turns(2)
    made_heavy(turns, "heavy.example")
    for number in range(5):
        turns.wait("heavy.example", str(number))
    turns.wait("light.example", "light")
    assert (turns.waiting("light.example"), turns.waiting("heavy.example")) == (1, 6)


def test_a_ticket_withdrawn_is_not_called_and_may_be_withdrawn_twice() -> None:
    turns: Turns[str] = Turns(2)
    turns.wait("a.example", "gone")
    turns.withdraw("a.example", "gone")
    turns.withdraw("a.example", "gone")
    assert turns.next(NOW) is None


def test_domains_of_long_ago_are_forgotten() -> None:
    turns: Turns[str] = Turns(2)
    for number in range(3 * MOST_REMEMBERED):
        at = NOW + 1_000 * number
        turns.wait(f"n{number}.example", "page")
        turns.next(at)
        turns.ended(f"n{number}.example", 0.5, at)
    assert len(turns._shares) <= MOST_REMEMBERED + 1
