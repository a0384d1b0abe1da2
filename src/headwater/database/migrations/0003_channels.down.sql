drop table cadence;
drop table run_minutes;
drop table runs;
drop table channel_items;
drop table channels;
drop function count_channel_changed();
drop function count_channels_removed();
drop function count_channels_added();
