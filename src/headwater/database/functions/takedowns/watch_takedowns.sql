-- A transaction that stores says so before it looks at the takedowns, until it ends. Whoever takes something down commits
-- its row and then waits for those that hold this lock: each of them may have looked before, all others see the row.
-- Nobody ever takes it exclusively, so nobody ever waits for it.
create function watch_takedowns() returns void
    language plpgsql
as $$
begin
    perform pg_advisory_xact_lock_shared('takedowns'::regclass::oid::integer, 0);
end $$;
