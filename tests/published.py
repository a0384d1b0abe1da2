"""A guard in the database of every test: what others are told of changes only with a new version and its outbox row.

Installed beside the schema, not by it: at every commit it looks at each document and vacancy that was changed, which
would cost an archive of millions more than it finds there. A statement of a test that begins with /* by hand */ is let
through.
"""

# Everything is told but where it stands among others, and in our books.
UNTOLD = {
    "documents": (
        *("search", "told_since", "told_first", "duplicate_bucket", "duplicate_of", "claimed_bucket", "claimed_hash"),
        *("claimed_url", "is_claim_believed"),
    ),
    "jobs": ("search_tsv", "channel_id", "listed_at"),
}
IS_TOLD = {
    "documents": "({0}.deleted_at is null and {0}.duplicate_of is null)",
    "jobs": "true",
}
KEYS = {"documents": ("document", "url_hash"), "jobs": ("job", "canonical_hash")}


def guard_of(table: str) -> str:
    kind, key = KEYS[table]
    untold = ", ".join(f"'{name}'" for name in UNTOLD[table])
    return f"""
        create function guard.{table}_are_told() returns trigger language plpgsql as $$
        begin
            if to_jsonb(old) - array[{untold}] = to_jsonb(new) - array[{untold}]
               or not ({IS_TOLD[table].format("old")} or {IS_TOLD[table].format("new")})
               or current_query() like '/* by hand */%' then
                return null;
            end if;
            if not exists (
                select from outbox o
                where o.kind = '{kind}' and o.bucket = new.bucket and o.hash = new.{key} and o.version = new.version
                  and (new.version > old.version or txid_status(o.xmin::text::bigint) = 'in progress')) then
                raise 'published columns of % changed without a version and an outbox row: % to %', '{table}',
                    (select jsonb_object_agg(was.key, was.value) from jsonb_each(to_jsonb(old) - array[{untold}]) as was
                     where was.value is distinct from to_jsonb(new) -> was.key), new.version;
            end if;
            return null;
        end $$;
        create constraint trigger told_of_{table} after update on {table}
            deferrable initially deferred for each row execute function guard.{table}_are_told();
    """


GUARD = "create schema guard;" + "".join(map(guard_of, KEYS))
