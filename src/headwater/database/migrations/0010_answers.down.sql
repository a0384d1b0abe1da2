drop index channel_items_refused;
alter table channels drop column answers;
