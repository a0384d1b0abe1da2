-- A word no text can contain, since words have no spaces: it ties a vector, and a question to it, to one configuration.
-- Otherwise a word left out in one language ("-cats") would be let in by the spelling of another.
create function config_mark(p_config regconfig) returns text
    language sql stable parallel safe
return 'language ' || p_config::text;
