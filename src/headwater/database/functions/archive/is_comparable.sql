-- Shorter texts are alike by chance: "Page not found", a cookie notice.
create function is_comparable(p_words integer) returns boolean
    language sql immutable parallel safe
return p_words >= 50;
