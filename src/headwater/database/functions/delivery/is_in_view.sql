-- Whether a record passes the filters of a view, all but its words: those are asked of the record's own search column.
-- Vacancies have no quality, so none is asked of them; about their use nothing is said. A document's country is that of its source.
create function is_in_view(v views, p_kind text, p_source_id uuid, p_language text, p_country text, p_quality smallint,
                           p_rights text[])
    returns boolean
    language sql stable
return (v.kinds = '{}' or p_kind = any (v.kinds))
   and (v.source_ids = '{}' or p_source_id = any (v.source_ids))
   and (v.languages = '{}' or p_language = any (v.languages))
   and (v.min_quality is null or p_kind = 'job' or coalesce(p_quality, 0) >= v.min_quality)
   and has_rights(p_rights, v.rights)
   and (v.tags = '{}' or exists (select 1 from sources s where s.id = p_source_id and s.tags && v.tags))
   and (v.countries = '{}'
        or coalesce(p_country, (select s.country from sources s where s.id = p_source_id)) = any (v.countries));
