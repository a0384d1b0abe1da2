-- Searches may be answered elsewhere: then nothing is written for them here, and a document that lives need not be in search.

create table search_column (
    is_only    boolean primary key default true check (is_only),
    state      text not null default 'kept' check (state in ('kept', 'emptying', 'away', 'filling')),
    -- How far the rows were emptied or filled.
    kind       text not null default '' check (kind in ('', 'document', 'job')),
    bucket     smallint not null default -1,
    hash       bytea not null default '',
    done       bigint not null default 0,
    changed_at timestamptz not null default now()
);
insert into search_column default values;
comment on table search_column is 'Whether the columns that PostgreSQL searches are kept: documents.search, jobs.search_tsv.';
comment on column search_column.state is 'Columns are written while kept or filling; PostgreSQL answers searches while kept.';
comment on column search_column.done is 'Rows that were looked at since the state began.';

alter table documents drop constraint deleted_is_out_of_search;
-- All rows are so: they were held to more. So nothing need be read.
alter table documents add constraint deleted_is_out_of_search check (deleted_at is null or search is null) not valid;
alter table jobs alter column search_tsv drop not null;
