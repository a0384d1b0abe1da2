drop view domain_policies, host_state;
drop function reserve_slot, close_host, apply_host_policy, lock_hosts, ensure_hosts, spacing_of;
drop table sleepers, takedowns, slots, host_statistics, host_closures, host_policies, hosts, sources;
