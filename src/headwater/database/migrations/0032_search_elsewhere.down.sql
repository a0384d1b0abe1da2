do $$ begin
    if (select state <> 'kept' from search_column) then
        raise exception 'PostgreSQL''s search columns are switched off: run headwater db search-engine postgresql first';
    end if;
end $$;
drop table search_column;
alter table jobs alter column search_tsv set not null;
alter table documents drop constraint deleted_is_out_of_search;
alter table documents add constraint deleted_is_out_of_search check ((deleted_at is null) = (search is not null));
