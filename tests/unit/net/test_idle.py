from headwater.net.idle import IdleBudget


def test_beyond_the_budget_a_new_host_is_not_kept_and_a_known_one_still_is() -> None:
    budget = IdleBudget(most=2, timeout=90)
    assert [budget.may_keep(host, 0) for host in ("a", "b", "c", "a")] == [True, True, False, True]


def test_a_host_not_asked_for_the_timeout_makes_room() -> None:
    budget = IdleBudget(most=2, timeout=90)
    assert [budget.may_keep(host, now) for host, now in (("a", 0), ("b", 50))] == [True, True]
    assert not budget.may_keep("c", 90)
    assert budget.may_keep("c", 91)
    assert not budget.may_keep("a", 91)


def test_asking_again_keeps_a_host_from_being_forgotten() -> None:
    budget = IdleBudget(most=2, timeout=90)
    for host, now in (("a", 0), ("b", 50), ("a", 80)):
        assert budget.may_keep(host, now)
    assert not budget.may_keep("c", 100)
    assert budget.may_keep("c", 141)
    assert budget.may_keep("a", 141)


def test_zero_is_no_limit() -> None:
    budget = IdleBudget(most=0, timeout=90)
    assert all(budget.may_keep(str(number), 0) for number in range(1_000))
