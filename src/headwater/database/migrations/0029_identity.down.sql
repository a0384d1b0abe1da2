drop trigger channels_look_at_hub on channels;
drop function look_at_hub();
alter type settlement drop attribute sent_from;
alter table fetch_log drop column sent_from;
