-- Validators of more than a channel's first answer: the sitemaps of an index, the further pages of a listing.
alter table channels add column answers jsonb not null default '{}';
comment on column channels.answers is 'By address: validators of the further answers of the last run, and where an answer led.';

-- A takedown that is lifted looks here for what it kept out.
create index channel_items_refused on channel_items (channel_id) where signature = '';

-- Where these led is not known yet: they are asked for in full once more.
update channels set etag = null, last_modified = null where kind in ('sitemap', 'listing');
