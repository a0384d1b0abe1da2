drop view domain_policies, host_state;
drop function reserve_slot, close_host, apply_host_policy, hold_hosts, lock_hosts, ensure_hosts,
    capacity_of, rest_after, scolded_penalty, spacing_after, spacing_of;
drop table sleepers, takedowns, slots, host_statistics, host_closures, host_policies, hosts, sources;
