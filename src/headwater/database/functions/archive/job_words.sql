-- The words of a vacancy, as they stand in jobs.search_tsv while that is kept. `Driver/cook` is searched as two words: the parser
-- would take it for a path. Questions are parted by the same sign.
create function job_words(p_language text, p_title text, p_org_name text, p_description text, p_missions text[], p_functions text[])
    returns tsvector
    language sql stable parallel safe
return search_vector(p_language, regexp_replace(p_title, '(?<=[^\s\d/])/(?=[^\s\d/])', ' ', 'g'),
                     regexp_replace(p_org_name, '(?<=[^\s\d/])/(?=[^\s\d/])', ' ', 'g'),
                     regexp_replace(p_description, '(?<=[^\s\d/])/(?=[^\s\d/])', ' ', 'g'),
                     array_to_string(p_missions || p_functions, ' '));
