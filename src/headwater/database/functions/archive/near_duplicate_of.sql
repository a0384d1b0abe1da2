-- The first teller of a text whose likeness differs in at most three bits, if it told before; of each piece only so many are
-- looked at.
-- Between, not equal: only the index of the piece has this order then. Asked for one value, a plan made while the archive was
-- small would walk through all documents by age, and sessions keep their plans.
create function near_duplicate_of(p_told telling, p_simhash bigint) returns document_key
    language plpgsql stable
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_near document_key;
begin
    with near as materialized (
        -- Most agree in several pieces. Thousands of pages of one template may be alike: the first to be seen are enough.
        select distinct candidate.first_seen_at, candidate.bucket, candidate.url_hash
        from (
            (select d.bucket, d.url_hash, d.simhash, d.first_seen_at from documents d
             where likeness_piece(d.simhash, 0) between likeness_piece(p_simhash, 0) and likeness_piece(p_simhash, 0)
               and d.simhash is not null and d.duplicate_of is null and d.deleted_at is null
             order by likeness_piece(d.simhash, 0), d.first_seen_at limit 500)
            union all
            (select d.bucket, d.url_hash, d.simhash, d.first_seen_at from documents d
             where likeness_piece(d.simhash, 1) between likeness_piece(p_simhash, 1) and likeness_piece(p_simhash, 1)
               and d.simhash is not null and d.duplicate_of is null and d.deleted_at is null
             order by likeness_piece(d.simhash, 1), d.first_seen_at limit 500)
            union all
            (select d.bucket, d.url_hash, d.simhash, d.first_seen_at from documents d
             where likeness_piece(d.simhash, 2) between likeness_piece(p_simhash, 2) and likeness_piece(p_simhash, 2)
               and d.simhash is not null and d.duplicate_of is null and d.deleted_at is null
             order by likeness_piece(d.simhash, 2), d.first_seen_at limit 500)
            union all
            (select d.bucket, d.url_hash, d.simhash, d.first_seen_at from documents d
             where likeness_piece(d.simhash, 3) between likeness_piece(p_simhash, 3) and likeness_piece(p_simhash, 3)
               and d.simhash is not null and d.duplicate_of is null and d.deleted_at is null
             order by likeness_piece(d.simhash, 3), d.first_seen_at limit 500)
        ) as candidate
        where bits_apart(candidate.simhash, p_simhash) <= 3
          and (candidate.bucket, candidate.url_hash) <> (p_told.bucket, p_told.url_hash)
        order by 1, 2, 3 limit 10
    ), told as materialized (
        select telling_of((near.bucket, near.url_hash)::document_key) as told from near
    )
    select (t.told).bucket, (t.told).url_hash into v_near from told t
    where tells_first(t.told, p_told)
    order by (t.told).since, (t.told).first_seen_at, (t.told).bucket, (t.told).url_hash limit 1;
    return v_near;
end $$;
