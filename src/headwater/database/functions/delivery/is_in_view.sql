-- Whether a record passes the filters of a view, all but its words: those are asked of the record's own search column.
-- Vacancies have no quality, so none is asked of them; about their use nothing is said. A document's country is that of its source.
-- `p_tags` are those of its source. It asks no table itself, so that it becomes a part of the statement that calls it: called for
-- each row by itself, it cost ten times as much. For the same reason what is asked for once may be a question to a table.
create function is_in_view(v views, p_kind text, p_source_id uuid, p_tags text[], p_language text, p_country text,
                           p_quality smallint, p_rights text[])
    returns boolean
    language sql immutable
return (v.kinds = '{}' or p_kind = any (v.kinds))
   and (v.source_ids = '{}' or p_source_id = any (v.source_ids))
   and (v.languages = '{}' or p_language = any (v.languages))
   and (v.min_quality is null or p_kind = 'job' or coalesce(p_quality, 0) >= v.min_quality)
   and (v.rights = '{}' or has_rights(p_rights, v.rights))
   and (v.tags = '{}' or coalesce(p_tags && v.tags, false))
   and (v.countries = '{}' or p_country = any (v.countries));
