-- A date of publication is only its page's word, so it decides only what our own eyes cannot.
create function tells_first(p_one telling, p_other telling) returns boolean
    language plpgsql immutable parallel safe
as $$
begin
    if abs(extract(epoch from p_one.since - p_other.since)) >= 3600 then
        return p_one.since < p_other.since;
    end if;
    return (coalesce(p_one.published_at, 'infinity'), p_one.since, p_one.first_seen_at, p_one.bucket, p_one.url_hash)
         < (coalesce(p_other.published_at, 'infinity'), p_other.since, p_other.first_seen_at, p_other.bucket, p_other.url_hash);
end $$;
