-- Extends leases that still hold; answers with the tokens of all that hold. A row that somebody has locked is being settled
-- or granted its next slot: it holds and needs no extension, and waiting for it could close a circle of waits.
create function extend_leases(p_buckets smallint[], p_tokens uuid[], p_lease interval, p_now timestamptz default null)
    returns uuid[]
    language plpgsql
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
declare
    v_now    timestamptz := coalesce(p_now, clock_timestamp());
    v_tokens uuid[];
begin
    with held as materialized (
        select s.bucket, s.token
        from unnest(p_buckets, p_tokens) as given (bucket, token)
        join slots s on s.bucket = given.bucket and s.token = given.token
        where s.expires_at > v_now
    ), free as materialized (
        select s.bucket, s.token
        from held h join slots s on s.bucket = h.bucket and s.token = h.token
        where s.expires_at > v_now
        for update of s skip locked
    ), extended as (
        update slots s set expires_at = greatest(s.expires_at, v_now + p_lease)
        from free f where s.bucket = f.bucket and s.token = f.token
    )
    select array_agg(h.token) into v_tokens from held h;
    return coalesce(v_tokens, array[]::uuid[]);
end $$;
