-- Search by words, always within named spaces. There is no index over the words: row-level security
-- would not use it (@@ may tell about rows it must not show), and one over all spaces would mix
-- them. The key of `memory` leads to the rows of the space; their vectors are compared one by one.
alter table memory add column words tsvector generated always as
  (to_tsvector('english', translate(path, '-_./', '    ') || ' ' || coalesce(body, ''))) stored;

create function search(
  given bytea, in_spaces text[], query text, most int, letters int, out status int, out answer text
) language plpgsql as $$
declare
  wanted bigint[];
  asked tsquery;
begin
  status := 401;
  if enter(given) is null then return; end if;
  status := 404;
  select coalesce(array_agg(id), '{}') into wanted from space where in_spaces = '{}' or name = any (in_spaces);
  if cardinality(wanted) < cardinality(in_spaces) then return; end if;
  -- Any of the words; quoted, because they are data.
  select string_agg('''' || replace(replace(word, '\', '\\'), '''', '''''') || '''', ' | ')::tsquery
    into asked
    from unnest(tsvector_to_array(to_tsvector('english', query))) as word;
  status := 200;
  select json_build_object('items', coalesce(json_agg(json_build_object('space', s.name,
      'path', m.path, 'version', m.version, 'score', f.score, 'author', m.author, 'at', m.at,
      'text', left(m.body, letters)) order by f.score desc, f.space, f.path), '[]'::json))::text
    into answer
    from (select space, path, ts_rank_cd(words, asked, 1) as score from memory
          where space = any (wanted) and words @@ asked and body is not null
          order by score desc, space, path limit most) f
    join memory m on m.space = f.space and m.path = f.path
    join space s on s.id = f.space;
end $$;
revoke execute on function search(bytea, text[], text, int, int) from public;
grant execute on function search(bytea, text[], text, int, int) to memdir_app;
