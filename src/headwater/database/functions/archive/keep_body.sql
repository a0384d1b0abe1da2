-- What was sent, as it is kept for another extraction; or where it was put.
create function keep_body(b new_body, p_now timestamptz) returns void
    language plpgsql
as $$
begin
    insert into raw_bodies (at, bucket, url_hash, source_id, url, status, headers, body, body_bytes, coding, stored_in, object_id)
    values (p_now, b.bucket, b.url_hash, b.source_id, b.url, b.status, b.headers::jsonb, b.body, b.body_bytes, b.coding,
            b.stored_in, b.object_id);
end $$;
