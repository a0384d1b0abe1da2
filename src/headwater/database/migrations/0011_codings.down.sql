create or replace function keep_body(b new_body, p_now timestamptz) returns void
    language plpgsql
as $$
begin
    insert into raw_bodies (at, bucket, url_hash, source_id, url, status, headers, body, body_bytes)
    values (p_now, b.bucket, b.url_hash, b.source_id, b.url, b.status, b.headers::jsonb, b.body, b.body_bytes);
end $$;

alter type new_body drop attribute coding;

-- Nobody could read these any more.
delete from raw_bodies where coding <> 'zstd';
alter table raw_bodies drop column coding;
comment on column raw_bodies.body is 'Compressed with zstd; body_bytes is its length before.';
