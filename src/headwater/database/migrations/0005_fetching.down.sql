drop view robots_cache;
drop table robots;
drop function regrant_slot;
