-- The four lengths together stay below the limit of 1 MB for a vector, whatever the letters, also of 50,000 pairs of them; longer
-- words are left out by the parser itself. Storing a document never fails because of its words.
create function search_vector(p_language text, p_a text, p_b text, p_c text, p_d text) returns tsvector
    language plpgsql stable parallel safe
as $$
declare
    v_config regconfig := search_config(p_language);
begin
    return array_to_tsvector(array[config_mark(v_config)])
        || setweight(to_tsvector(v_config, legible(letter_pairs(left(p_a, 1000)), 4000)), 'A')
        || setweight(to_tsvector(v_config, legible(letter_pairs(left(p_b, 4000)), 16000)), 'B')
        || setweight(to_tsvector(v_config, legible(letter_pairs(left(p_c, 4000)), 16000)), 'C')
        || setweight(to_tsvector(v_config, legible(letter_pairs(left(p_d, 80000)), 200000)), 'D');
end $$;
