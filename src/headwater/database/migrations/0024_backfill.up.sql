-- A channel that reads the past of its source, once, and is then switched off. Its `recipe` is the day it goes back to.
alter table channels drop constraint channels_kind_check;
alter table channels add constraint channels_kind_check
    check (kind in ('feed', 'sitemap', 'listing', 'api', 'crawl', 'search', 'backfill'));
