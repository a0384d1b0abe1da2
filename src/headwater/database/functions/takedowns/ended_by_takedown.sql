-- Whatever a request brought: its entry is dead. What it says of the host still holds.
create function ended_by_takedown(s settlement) returns settlement
    language plpgsql immutable
as $$
begin
    s.verdict := 'dead';
    s.status := 'dead';
    s.reason := 'takedown';
    s.last_error := 'takedown';
    s.next_fetch_in := null;
    s.content_hash := null;
    s.fetch_url := null;
    s.resume_url := null;
    s.hops := null;
    s.moved_to := null;
    s.revisit_in := null;
    return s;
end $$;
