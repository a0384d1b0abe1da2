drop table clock_mark;
drop table installation;
