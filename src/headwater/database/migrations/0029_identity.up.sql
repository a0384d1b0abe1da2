-- From which address of ours a request left: a site owner who asks whether it was us knows no more than that.
alter table fetch_log add column sent_from inet;
comment on column fetch_log.sent_from is 'The address of our machine that it left from; behind NAT not the one that its server saw.';
alter type settlement add attribute sent_from text;

-- A hub whose channel is polled no more is told so soon, and asked again soon when it is polled again.
create function look_at_hub() returns trigger
    language plpgsql
as $$
begin
    update subscriptions set due_at = clock_timestamp()
    where channel_id = new.id and (new.is_active or state in ('active', 'pending'));
    return null;
end $$;
create trigger channels_look_at_hub
    after update of is_active on channels
    for each row when (old.is_active <> new.is_active) execute function look_at_hub();
