drop table crowded_hosts;
drop table source_delays;
drop index channels_in_vain;
alter table channels
    drop column new_items_lately, drop column vain_polls_lately, drop column polls_lately,
    drop column validators_distrusted_until, drop column validators_checked_at;
