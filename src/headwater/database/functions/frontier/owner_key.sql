-- Who lives: an owner of leases holds a lock of its name for as long as its heartbeat has a connection.
create function owner_key(p_owner text) returns bigint
    language sql immutable parallel safe
return hashtextextended('headwater.owner.' || p_owner, 0);
