alter table channels drop column held_by, drop column unread_since, drop column unread_page, drop column error_cause;
alter table channels rename column publisher_hints to wishes;
alter table channels drop constraint channels_kind_fkey;
-- Refused where there is a channel of a kind that was not known then: remove those first.
alter table channels add constraint channels_kind_check
    check (kind in ('feed', 'sitemap', 'listing', 'api', 'crawl', 'search', 'backfill'));
drop table channel_kinds;
