drop table pushes;
drop table callbacks;
drop table subscriptions;
