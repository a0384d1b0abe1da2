-- What the parser can read in linear time: one unbroken run such as a_a_a_… of 100 kB keeps it busy for minutes, and an
-- unclosed < has it search to the end of the text again and again.
create function legible(p_text text, p_most integer) returns text
    language sql immutable parallel safe
return regexp_replace(replace(replace(left(p_text, p_most), '<', ' '), '>', ' '), '[^ \n\r\t]{100}', '\& ', 'g');
