drop table job_sightings;
drop index jobs_apply_host, jobs_page_host;
comment on column jobs.source_id is null;
alter table jobs drop column page_url, drop column is_spoken_for;

drop function keep_page(settlement, bytea, new_document, bytea, new_body, text, text[], text);
drop function strip_claim(smallint, bytea);
drop function without_claim(new_document);
drop function ended_by_takedown(settlement);
-- The end of a journey: its request, and what it leaves. False if its lease was lost; then nothing is changed at all.
-- `p_withdrawn_by` says why the documents of this address have to go.
create function keep_page(
    p_settlement settlement, p_url_hash bytea, p_document new_document, p_outlinks bytea, p_body new_body, p_withdrawn_by text
) returns boolean
    language plpgsql
as $$
declare
    v_now timestamptz := clock_timestamp();
begin
    if cardinality(settle_requests(array[p_settlement])) = 0 then
        return false;
    end if;
    if p_body.url_hash is not null then
        perform keep_body(p_body, v_now);
    end if;
    if p_document.url_hash is not null then
        if (keep_document(p_document, v_now)).outcome <> 'unchanged' then
            perform keep_outlinks(p_document.bucket, p_document.url_hash, p_outlinks);
        end if;
    elsif p_withdrawn_by <> '' then
        perform withdraw_page(p_settlement.bucket, p_url_hash, p_withdrawn_by, v_now);
    end if;
    return true;
end $$;

drop index documents_claiming;
drop function is_taken_down(text[]);
drop function takedowns_over(text[]);
drop function outlive_watchers(interval);
drop view takedown_watchers;
drop function watch_takedowns();
drop function domains_above(text);
drop function host_backwards(text);
drop function url_host(text);

drop index takedowns_unswept;
alter table takedowns drop column swept_at;
