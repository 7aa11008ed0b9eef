-- For the owner only: the words of a memory go, also from its history, from what was proposed and
-- from the line of an index that points to it. What stays is that something was here.

create function without_pointer(body text, to_path text) returns text language sql immutable as $$
  select case when body is not null then coalesce(string_agg(line, E'\n' order by nr), '') end
    from string_to_table(body, E'\n') with ordinality as lines(line, nr)
    where position('(' || to_path || ')' in line) = 0 $$;

create function purge(in_space text, in_path text, by_whom text) returns bigint
language plpgsql as $$
declare
  wanted bigint;
  newest bigint;
  index_path constant text := 'MEMORY.md';
begin
  select id, seq into wanted, newest from space where name = in_space for update;
  perform from memory where space = wanted and path = in_path;
  if not found then return null; end if;
  delete from version where space = wanted and path = in_path;
  delete from proposal where space = wanted
    and items @> jsonb_build_array(jsonb_build_object('path', in_path));
  update version set body = without_pointer(body, in_path), hash = ''
    where space = wanted and path = index_path
      and body is distinct from without_pointer(body, in_path);
  with shorter as (
    select without_pointer(body, in_path) as text from memory
      where space = wanted and path = index_path)
  update memory set body = text, hash = encode(sha256(convert_to(text, 'UTF8')), 'hex'),
      author = by_whom, at = now(), version = version + 1, seq = newest + 1
    from shorter where space = wanted and path = index_path and text is distinct from body;
  if found then newest := newest + 1; end if;
  update memory set body = null, hash = '', purged = true, author = by_whom, at = now(),
      version = version + 1, seq = newest + 1
    where space = wanted and path = in_path;
  update space set seq = newest + 1 where id = wanted;
  insert into audit (person, act, space, detail)
    values (by_whom, 'purge', in_space, jsonb_build_object('paths', jsonb_build_array(in_path)));
  return newest + 1;
end $$;
revoke execute on function without_pointer(text, text), purge(text, text, text) from public;
