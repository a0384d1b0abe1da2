-- Whether of what was said about uses all that is wanted holds. `train=unknown` wants that nothing was said about it.
create function has_rights(p_said text[], p_wanted text[]) returns boolean
    language sql immutable parallel safe
return p_wanted = '{}' or not exists (
    select 1 from unnest(p_wanted) as w
    where case when w like '%=unknown' then exists (select 1 from unnest(p_said) as s where s like replace(w, 'unknown', '%'))
               else not coalesce(w = any (p_said), false) end);
