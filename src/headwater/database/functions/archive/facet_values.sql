-- The values by which a document is counted, facet by facet. Each is one that the filter of the same name takes; days are those of UTC.
create function facet_values(p_facets text[], p_source_id uuid, p_url text, p_language text, p_page_type text, p_authors text[],
                             p_told_at timestamptz)
    returns table (facet text, value text)
    language sql stable parallel safe
begin atomic
    select f.facet, f.value
    from (values ('source', p_source_id::text), ('host', url_host(p_url)), ('language', p_language), ('page_type', p_page_type),
                 ('month', to_char(p_told_at at time zone 'UTC', 'YYYY-MM')),
                 ('day', to_char(p_told_at at time zone 'UTC', 'YYYY-MM-DD'))) as f (facet, value)
    where f.facet = any (p_facets) and f.value <> ''
    union all
    select 'author', a.name from unnest(p_authors) with ordinality as a (name, place)
    where 'author' = any (p_facets) and a.name <> '' and a.name <> all (p_authors[: a.place - 1]);
end;
