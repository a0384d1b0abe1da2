delete from channels where kind = 'backfill';
alter table channels drop constraint channels_kind_check;
alter table channels add constraint channels_kind_check
    check (kind in ('feed', 'sitemap', 'listing', 'api', 'crawl', 'search'));
