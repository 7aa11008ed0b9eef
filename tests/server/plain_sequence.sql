-- A push as one would write it first: numbers from a sequence, and no lock to keep them in order.
create sequence plain;
grant usage on plain to memdir_app;
create or replace function push(
  given bytea, in_space text, items jsonb, named text, out status int, out answer text
) language plpgsql as $$
declare
  wanted bigint;
  number bigint;
begin
  perform enter(given);
  select id into wanted from space where name = in_space;
  number := nextval('plain');
  insert into memory (space, path, version, seq, hash, body, author)
    select wanted, path, version + 1, number, hash, body, my_name()
      from jsonb_to_recordset(items) as g(path text, version bigint, hash text, body text)
    on conflict (space, path) do update set seq = excluded.seq, body = excluded.body,
      version = excluded.version, author = excluded.author;
  perform pg_sleep(random() * 0.02);
  update space set seq = greatest(seq, number) where id = wanted;
  status := 200;
  select json_build_object('seq', number, 'items', json_agg(json_build_object(
    'path', path, 'saved', true, 'version', version + 1)))::text into answer
    from jsonb_to_recordset(items) as g(path text, version bigint);
end $$;
