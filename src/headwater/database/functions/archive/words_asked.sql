-- What a person typed as a question. Without spaces its pairs of letters are one word to the parser, which makes them a phrase. A
-- single letter is the beginning of a pair.
create function words_asked(p_config regconfig, p_question text) returns tsquery
    language sql stable parallel safe
return regexp_replace(
    websearch_to_tsquery(p_config, replace(replace(letter_pairs(p_question), E'\x1f ', E'\x1f'), E'\x1e ', E'\x1e'))::text,
    '''([\u0e00-\U0003ffff])''(?!:)', '''\1'':*', 'g')::tsquery;
