-- Words of scripts that write no spaces between them, as overlapping pairs of letters: `国家预算` as 国家, 家预 and 预算, one behind the
-- other. So are Thai, Lao, Burmese and Khmer, and Korean, whose words carry their particles. Record separators stand around such a
-- run and unit separators within it, each with a space, so that it can be put together again. Other texts stay as they are.
create function letter_pairs(p_text text) returns text
    language plpgsql immutable parallel safe
as $$
declare
    v_letter constant text := '[\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1100-\u11ff\u1780-\u17d3\u3005-\u3007'
        '\u3041-\u30fa\u30fc-\u318e\u3400-\u9fff\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]';
begin
    if p_text !~ v_letter then
        return p_text;
    end if;
    return regexp_replace(regexp_replace(p_text, '(' || v_letter || '+)', E'\x1e \\1\x1e ', 'g'),
                          '(?<=' || v_letter || ')(' || v_letter || ')(?=' || v_letter || ')', E'\\1\x1f \\1', 'g');
end $$;
