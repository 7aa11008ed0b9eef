-- People, spaces, memories, and the rule that nobody sees a row of a space they are no member of.

create table person (
  id bigint generated always as identity primary key,
  name text not null unique check (name ~ '^[a-z0-9][a-z0-9._-]{0,63}$')
);
create table token ( -- only hashes: whoever reads this table cannot log in with it
  hash bytea primary key,
  person bigint not null references person,
  made timestamptz not null default now(),
  expires timestamptz not null,
  revoked timestamptz
);
create index token_person on token (person);
create table space (
  id bigint generated always as identity primary key,
  name text not null unique check (name ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  seq bigint not null default 0 -- the newest change; its row lock puts the changes in order
);
create table member (
  person bigint not null references person,
  space bigint not null references space,
  role text not null check (role in ('reader', 'writer', 'maintainer')),
  primary key (person, space)
);
create table memory ( -- what stands now; body is null where a memory was removed
  space bigint not null references space,
  path text not null check (octet_length(path) between 1 and 400),
  version bigint not null,
  seq bigint not null,
  hash text not null,
  body text check (octet_length(body) <= 250000),
  purged boolean not null default false,
  author text not null,
  at timestamptz not null default now(),
  push text not null default '', -- the name its client gave the push
  primary key (space, path)
);
create unique index memory_feed on memory (space, seq);
-- Names that differ only in case are one file on some disks.
create unique index memory_case on memory (space, lower(path)) where body is not null;
create table version ( -- what stood before
  space bigint not null,
  path text not null,
  version bigint not null,
  hash text not null,
  body text,
  author text not null,
  at timestamptz not null,
  primary key (space, path, version)
);
create table audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  person text not null,
  act text not null,
  space text,
  detail jsonb not null default '{}'
);

-- Who asks stands in a setting of the transaction; without one there is nobody, and no row.
create function me() returns bigint language sql stable as
  $$ select nullif(current_setting('memdir.person', true), '')::bigint $$;
create function my_name() returns text language sql stable as
  $$ select nullif(current_setting('memdir.name', true), '') $$;
-- These run as the owner, because the application may read neither table.
create function mine() returns bigint[] language sql stable security definer
  set search_path = memdir, pg_temp as
  $$ select coalesce(array_agg(space), '{}') from member where person = me() $$;
create function mine_to_write() returns bigint[] language sql stable security definer
  set search_path = memdir, pg_temp as
  $$ select coalesce(array_agg(space), '{}') from member where person = me() and role <> 'reader' $$;
create function my_roles() returns table (space bigint, role text) language sql stable
  security definer set search_path = memdir, pg_temp as
  $$ select m.space, m.role from member m where m.person = me() $$;
create function bearer(given bytea, out id bigint, out name text) language sql stable
  security definer set search_path = memdir, pg_temp as
  $$ select p.id, p.name from token t join person p on p.id = t.person
     where t.hash = given and t.revoked is null and t.expires > now() $$;

do $$ declare t text; begin
  foreach t in array array['person', 'token', 'space', 'member', 'memory', 'version', 'audit'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy owner on %I to memdir_owner using (true) with check (true)', t);
  end loop;
end $$;
create policy see on space for select to memdir_app using (id = any ((select mine())::bigint[]));
create policy count on space for update to memdir_app
  using (id = any ((select mine_to_write())::bigint[]));
create policy see on memory for select to memdir_app
  using (space = any ((select mine())::bigint[]));
create policy add on memory for insert to memdir_app
  with check (space = any ((select mine_to_write())::bigint[]) and author = (select my_name()));
create policy change on memory for update to memdir_app
  using (space = any ((select mine_to_write())::bigint[]))
  with check (space = any ((select mine_to_write())::bigint[]) and author = (select my_name()));
create policy see on version for select to memdir_app
  using (space = any ((select mine())::bigint[]));
create policy add on version for insert to memdir_app
  with check (space = any ((select mine_to_write())::bigint[]));
create policy add on audit for insert to memdir_app with check (person = (select my_name()));

grant usage on schema memdir to memdir_app;
grant select on space, memory, version to memdir_app;
grant update (seq) on space to memdir_app;
grant insert, update on memory to memdir_app;
grant insert on version, audit to memdir_app;

-- One function per request: one round trip, one transaction. Each gives a status and its answer;
-- a space of others and a space that does not exist are the same 404.

create function enter(given bytea) returns bigint language plpgsql as $$
declare who record;
begin
  select * into who from memdir.bearer(given);
  perform set_config('memdir.person', coalesce(who.id::text, ''), true),
          set_config('memdir.name', coalesce(who.name, ''), true);
  return who.id;
end $$;

create function spaces(given bytea, out status int, out answer text) language plpgsql as $$
begin
  status := 401;
  if enter(given) is null then return; end if;
  status := 200;
  select json_build_object('name', my_name(), 'spaces', coalesce(json_agg(json_build_object(
      'space', s.name, 'role', r.role, 'seq', s.seq) order by s.name), '[]'::json))::text
    into answer from space s join my_roles() r on r.space = s.id;
end $$;

create function get(given bytea, in_space text, in_path text, out status int, out answer text)
language plpgsql as $$
begin
  status := 401;
  if enter(given) is null then return; end if;
  select json_build_object('path', m.path, 'version', m.version, 'hash', m.hash, 'body', m.body,
      'author', m.author, 'at', m.at)::text into answer
    from memory m join space s on s.id = m.space
    where s.name = in_space and m.path = in_path and m.body is not null;
  status := case when answer is null then 404 else 200 end;
end $$;

-- The feed: what stands now of every path that changed after `after`, in the order of the changes.
create function changes(
  given bytea, in_space text, after bigint, most int, out status int, out answer text
) language plpgsql as $$
declare
  wanted bigint;
  newest bigint;
begin
  status := 401;
  if enter(given) is null then return; end if;
  status := 404;
  select id, seq into wanted, newest from space where name = in_space;
  if wanted is null then return; end if;
  status := 410; -- a cursor from before the database was restored
  if after > newest then return; end if;
  status := 200;
  select json_build_object('next', coalesce(max(seq), after), 'newest', greatest(newest, max(seq)),
      'items', coalesce(json_agg(json_build_object('path', path, 'version', version, 'seq', seq,
        'hash', hash, 'body', body, 'purged', purged, 'author', author, 'at', at,
        'push', push) order by seq),
        '[]'::json))::text
    into answer
    from (select m.*, sum(octet_length(coalesce(body, ''))) over (order by seq)
                 - octet_length(coalesce(body, '')) as bytes_before
          from (select * from memory where space = wanted and seq > after
                order by seq limit most) m) page
    where bytes_before < 1000000;
end $$;

create function history(
  given bytea, in_space text, in_path text, most int, out status int, out answer text
) language plpgsql as $$
begin
  status := 401;
  if enter(given) is null then return; end if;
  select json_agg(json_build_object('version', version, 'hash', hash, 'body', body,
      'author', author, 'at', at) order by version desc)::text into answer
    from (select v.*, sum(octet_length(coalesce(body, ''))) over (order by version desc)
                 - octet_length(coalesce(body, '')) as bytes_before
          from (select m.version, m.hash, m.body, m.author, m.at from memory m
                  join space s on s.id = m.space where s.name = in_space and m.path = in_path
                union all
                select o.version, o.hash, o.body, o.author, o.at from version o
                  join space s on s.id = o.space where s.name = in_space and o.path = in_path
                order by version desc limit most) v) page
    where bytes_before < 1000000;
  status := case when answer is null then 404 else 200 end;
end $$;

-- All or nothing. The lock of the space's row comes first and is held to the end: the order of the
-- numbers is the order of the commits, so no reader of the feed passes a number that comes later.
create function push(
  given bytea, in_space text, items jsonb, named text, out status int, out answer text
) language plpgsql as $$
declare
  wanted bigint;
  newest bigint;
  saved int;
begin
  status := 401;
  if enter(given) is null then return; end if;
  status := 404;
  select id into wanted from space where name = in_space;
  if wanted is null then return; end if;
  status := 403;
  select seq into newest from space where id = wanted for update;
  if newest is null then return; end if;

  status := 409;
  select json_agg(json_build_object('path', g.path, 'expected', g.version,
      'yours', json_build_object('hash', g.hash, 'body', g.body),
      'theirs', json_build_object('version', coalesce(m.version, 0), 'hash', m.hash, 'body', m.body,
        'purged', coalesce(m.purged, false), 'author', m.author, 'at', m.at)))::text
    into answer
    from jsonb_to_recordset(items) as g(path text, version bigint, hash text, body text)
    left join memory m on m.space = wanted and m.path = g.path
    where m.body is distinct from g.body and coalesce(m.version, 0) <> g.version
      and not (g.version = 0 and m.body is null); -- 0: new, also where something was removed
  if answer is not null then
    answer := '{"conflicts":' || answer || '}';
    return;
  end if;

  with fresh as (
    select g.path, g.hash, g.body, coalesce(m.version, 0) + 1 as version,
        newest + row_number() over (order by g.body is not null, g.nr) as seq
      from rows from (jsonb_to_recordset(items) as (path text, version bigint, hash text, body text))
        with ordinality as g(path, version, hash, body, nr)
      left join memory m on m.space = wanted and m.path = g.path
      where m.body is distinct from g.body
  ), before as (
    insert into version (space, path, version, hash, body, author, at)
      select m.space, m.path, m.version, m.hash, m.body, m.author, m.at
        from memory m join fresh f on m.space = wanted and m.path = f.path
  ), now as (
    insert into memory (space, path, version, seq, hash, body, author, push)
      select wanted, path, version, seq, hash, body, my_name(), named from fresh order by seq
      on conflict (space, path) do update set version = excluded.version, seq = excluded.seq,
        hash = excluded.hash, body = excluded.body, author = excluded.author, at = excluded.at,
        push = excluded.push, purged = false
      returning path, version, seq
  ), told as (
    insert into audit (person, act, space, detail)
      select my_name(), 'push', in_space, jsonb_build_object('paths', jsonb_agg(path order by seq))
        from fresh having count(*) > 0
  )
  select count(now.path), json_build_object('seq', newest + count(now.path), 'items', json_agg(
      json_build_object('path', g.path, 'saved', now.path is not null,
        'version', coalesce(now.version, m.version, 0)) order by g.nr))::text
    into saved, answer
    from rows from (jsonb_to_recordset(items) as (path text, version bigint, hash text, body text))
      with ordinality as g(path, version, hash, body, nr)
    left join now on now.path = g.path
    left join memory m on m.space = wanted and m.path = g.path;
  if saved > 0 then
    update space set seq = newest + saved where id = wanted;
  end if;
  status := 200;
end $$;

-- For the owner only.

create function invite(
  who text, in_space text, as_role text, token_hash bytea, days int, by_whom text,
  out new_space boolean, out new_person boolean
) language plpgsql as $$
begin
  insert into space (name) values (in_space) on conflict do nothing;
  new_space := found;
  insert into person (name) values (who) on conflict do nothing;
  new_person := found;
  insert into member (person, space, role)
    select p.id, s.id, as_role from person p, space s where p.name = who and s.name = in_space
    on conflict (person, space) do update set role = excluded.role;
  insert into token (hash, person, expires)
    select token_hash, id, now() + make_interval(days => days) from person where name = who;
  insert into audit (person, act, space, detail) values (by_whom, 'invite', in_space,
    jsonb_build_object('name', who, 'role', as_role, 'days', days));
end $$;

-- All tokens and memberships, or the membership in the one space that is named.
create function revoke(
  who text, in_space text, by_whom text, out tokens int, out spaces text[]
) language plpgsql as $$
begin
  with gone as (
    delete from member m using space s, person p
      where m.space = s.id and m.person = p.id and p.name = who and in_space in ('', s.name)
      returning s.name)
  select coalesce(array_agg(name order by name), '{}') into spaces from gone;
  update token t set revoked = now() from person p
    where p.id = t.person and p.name = who and t.revoked is null and in_space = '';
  get diagnostics tokens = row_count;
  insert into audit (person, act, space, detail) values (by_whom, 'revoke', nullif(in_space, ''),
    jsonb_build_object('name', who, 'spaces', spaces));
end $$;

revoke execute on all functions in schema memdir from public;
grant execute on function me(), my_name(), mine(), mine_to_write(), my_roles(), bearer(bytea),
  enter(bytea), spaces(bytea), get(bytea, text, text), changes(bytea, text, bigint, int),
  history(bytea, text, text, int), push(bytea, text, jsonb, text) to memdir_app;
