select amend_function('regrant_slot', 'began_at(s.starts_at + p_started_after, p_duration_ms, v_now) + v_space',
                      's.starts_at + p_started_after + v_space');
select amend_function('settle_requests', 'max(began_at(x.starts_at + x.started_after, x.duration_ms, v_now)) as started_at',
                      'max(x.starts_at + x.started_after) as started_at');
drop function amend_function, began_at;
drop function follow_clock_ahead, follow_clock_back_in_channels, follow_clock_back, farthest_slot;
drop trigger note_closure on host_closures;
drop function note_closure;
alter table host_closures drop column noted_at;
drop table clock_mark;
