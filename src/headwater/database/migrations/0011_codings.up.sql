-- A body that came packed well enough is kept as it came: packing it again took a tenth of a worker's time.
alter table raw_bodies add column coding text not null default 'zstd';
comment on column raw_bodies.body is 'Packed, in the coding that is named; body_bytes is its length before.';

alter type new_body add attribute coding text;

create or replace function keep_body(b new_body, p_now timestamptz) returns void
    language plpgsql
as $$
begin
    insert into raw_bodies (at, bucket, url_hash, source_id, url, status, headers, body, body_bytes, coding)
    values (p_now, b.bucket, b.url_hash, b.source_id, b.url, b.status, b.headers::jsonb, b.body, b.body_bytes, b.coding);
end $$;
