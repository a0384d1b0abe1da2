drop table cadence;
drop table run_minutes;
drop table runs;
drop table channel_items;
drop table channels;
