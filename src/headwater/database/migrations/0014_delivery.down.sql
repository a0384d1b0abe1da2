drop table backfills;
drop table delivery_failures;
drop table delivered;
drop table sinks;
drop table views;
alter table sleepers drop column waits_for;
create index outbox_by_time on outbox (at);
-- Changes that were moved stand nowhere else: they wait in the outbox again.
insert into outbox (kind, bucket, hash, version, op, at)
select c.kind, c.bucket, c.hash, c.version, c.op, c.changed_at from changes c order by c.position;
drop table changes;
drop table change_counter;
