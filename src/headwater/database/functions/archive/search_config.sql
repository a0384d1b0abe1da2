-- The configuration for a language; `simple` where there is none.
create function search_config(p_language text) returns regconfig
    language sql stable parallel safe
return coalesce((select l.config from search_languages l where l.language = p_language), 'simple'::regconfig);
