-- The kinds of channels, written by `headwater db migrate` from the program's own table of them: a new kind needs no migration.
create table channel_kinds (
    kind text primary key
);
comment on table channel_kinds is 'Every kind of channel that the program knows. Filled by `headwater db migrate`.';
insert into channel_kinds select distinct kind from channels;
alter table channels drop constraint channels_kind_check;
alter table channels add constraint channels_kind_fkey foreign key (kind) references channel_kinds;

alter table channels rename column wishes to publisher_hints;

-- What is told apart by a program has a column; sentences are for people.
alter table channels add column error_cause text, add column unread_page text, add column unread_since timestamptz,
    add column held_by text;
comment on column channels.error_cause is 'Where its errors come from, where more is known than their class; of a page that could not be read, why.';
comment on column channels.unread_page is 'A further page of its list that could not be read, though the list was.';
comment on column channels.held_by is 'What keeps its next poll from coming sooner, whatever interval a person sets.';

-- As it was recognised until now: by the sentences.
update channels set error_cause = case
    when last_error like 'blocked_address%' or last_error like '%(blocked_address%' then 'private_address'
    when last_error like 'dns_not_found%' or last_error like '%(dns_not_found%' then 'dead_domain'
    when last_error like 'robots.txt could not be had%' then 'robots_unreachable'
    when last_error like 'robots disallow%' then 'robots_forbid'
    when last_error like 'The secret %' then 'secret' end
where last_error is not null and consecutive_errors > 0;
update channels
set unread_page = split_part(last_error, ' could not be read since ', 1),
    unread_since = (substring(last_error from ' could not be read since (\d{4}-\d\d-\d\d \d\d:\d\d) UTC: ') || '+00')::timestamptz,
    error_cause = case when last_error like '%robots.txt%' then 'robots_forbid' end
where last_error ~ ' could not be read since \d{4}-\d\d-\d\d \d\d:\d\d UTC: ' and consecutive_errors = 0;
update channels set held_by = case
    when next_reason like '%server asked to wait: max-age%' then 'cache_lifetime'
    when next_reason ~ 'asked to wait|asks to wait|asks to skip' then 'publisher'
    when next_reason like '%time window%' then 'time_window' end
where next_reason ~ 'asked to wait|asks to wait|asks to skip|time window';
